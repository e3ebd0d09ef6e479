"""Stavki polja za vprašanja: vprašanje, zapisano z lastnimi besedami."""

SENTENCES = {
    "box.label": "Vprašajte z lastnimi besedami",
    "box.label_of": "Vprašajte o tabeli {table} z lastnimi besedami",
    "box.example": "na primer {text}",
    "box.example_of": "{kind}: {column}",
    "box.example_by": "{text}, po: {column}",
    "box.read": "Razumljeno kot: {sentence}. Spodaj lahko spremenite vsak del; nič še ni vprašano.",
    "box.unread": "Tega ne razumem, zato je izpuščeno: {words}.",
    "box.undeclared": "{columns}: kaj je v tem stolpcu, še ni opisano, zato o njem še ni mogoče vprašati.",
    "box.declare": "Opiši {columns}",
    "box.rather": "Raje: {sentence}",
    "draft.left": "Niste dokončali vprašanja: {sentence}.",
    "draft.take": "Nadaljuj",
    "draft.drop": "Izbriši",
    "box.undo": "Razveljavi",
    "read.nothing": "V tem ni vprašanja, na katero bi tabela lahko odgovorila. Zapišite, kaj želite, in stolpec: »povprečje …«.",
    "read.unread": "Tega ne razumem: {words}. Zapišite drugače ali izberite {readings}.",
    "read.several": "To lahko pomeni več vprašanj. Izberite eno: {readings}.",
    "read.quoted": "»{text}«",
    "read.or": " ali ",
}
