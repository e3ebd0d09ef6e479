"""Prvi pogled."""

from __future__ import annotations

SENTENCES: dict[str, str] = {
    "card.overview.title": "Prvi pogled",
    "card.overview.noun": "prvi pogled",
    "card.overview.plain": "Koliko oseb ima vsaka vrednost ali skupina v številnih stolpcih, kupljeno naenkrat: potem glejte, kolikor želite.",
    "card.overview.theorem": "Diskretni Gaussov mehanizem na ostankih števil (Canonne, Kamath, Steinke 2020, izrek 14; Xiao, He, Zhang, Kifer 2023)",
    "card.overview.caveat.bins": "Števila in datumi so povedani v skupinah, ki sledijo iz opisanega razpona.",
    "card.overview.caveat.estimated": "Kombinacije, ki niso bile kupljene, so ocenjene, brez obljube.",
    "sentence.overview": "Prvi pogled na {columns} {columns|stolpec|stolpca|stolpce|stolpcev}",
    "sentence.overview_against": "Prvi pogled na {columns} {columns|stolpec|stolpca|stolpce|stolpcev}, vsak tudi po: {against}",
    "sentence.overview_every": "Prvi pogled na {columns} {columns|stolpec|stolpca|stolpce|stolpcev}, tudi vsaka dva skupaj",
    "param.against.label": "Stolpci, ki vas zanimajo",
    "param.against.help": "Eden ali dva stolpca, po katerih se prešteje tudi vsak drug stolpec.",
    "param.three.label": "Vsi trije skupaj",
    "param.three.help": "Vsak drug stolpec hkrati po obeh stolpcih, ki vas zanimata.",
    "param.weights.label": "Kaj je najpomembnejše",
    "param.weights.help": "Stolpec z večjo utežjo dobi manj šuma, drugi pa več.",
    "param.spread.label": "Kako je šum razporejen",
    "param.spread.help": "»level«: vse številke približno enako natančne. Brez tega: kot pri prvih pogledih prejšnjih različic.",
    "overview.columns": "Izberite od 1 do {most} različnih stolpcev; stolpec z množicami ne more biti v prvem pogledu.",
    "overview.against": "Izberite največ {most} stolpca, ki vas zanimata, izmed stolpcev prvega pogleda.",
    "overview.weights": "Uteži naj bodo večje od 0 in največ 1.000, za stolpce prvega pogleda.",
    "overview.cells": "Preveč kombinacij: {columns} jih imajo skupaj {cells}, dovoljenih je največ {most}. Izpustite katerega ali ga razdelite na manj skupin.",
    "overview.numbers": "Preveč kombinacij: vseh je {cells}, dovoljenih je največ {most}. Izpustite nekaj stolpcev ali izberite manj stolpcev, ki vas zanimajo.",
    "overview.misfit": "ne ustreza",
    "look.column": "Stolpca „{column}“ v tem prvem pogledu ni.",
    "look.label": "Izberite med vrednostmi, ki jih ima „{column}“ v tem prvem pogledu.",
    "look.mean": "„{column}“ ni stolpec števil v skupinah, zato tu nima povprečja.",
    "look.percentile": "„{column}“ tu nima vrstnega reda ali pa percentil ni četrtina, polovica ali tri četrtine.",
}
