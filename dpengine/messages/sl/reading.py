"""Stavki polja za vprašanja: vprašanje, zapisano z lastnimi besedami."""

SENTENCES = {
    "read.nothing": "V tem ni vprašanja, na katero bi tabela lahko odgovorila. Zapišite, kaj želite, in stolpec: »povprečje …«.",
    "read.unread": "Tega ne razumem: {words}. Zapišite drugače ali izberite {readings}.",
    "read.several": "To lahko pomeni več vprašanj. Izberite eno: {readings}.",
    "read.or": " ali ",
}
