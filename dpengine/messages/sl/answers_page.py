"""What the Answers page says, and what is said of figures beside each other."""

SENTENCES: dict[str, str] = {
    "compare.number": "Izberite dve številki ali več, največ {most}.",
    "compare.tables": "Te številke so iz različnih tabel. Izberite številke ene tabele.",
    "compare.units": "Te številke niso iste vrste: ena šteje, druga je povprečje, delež ali vsota. Izberite številke ene vrste, o enem stolpcu.",
    "compare.bought": "Razpon percentila je bil kupljen samo za tisti odgovor in ga pozneje ni mogoče razširiti, zato se ne primerja z drugim odgovorom. Izberite dve skupini enega odgovora ali pa vprašajte po povprečjih.",
    "compare.few": "Ena od njih pove premalo za primerjavo: če upoštevamo vse, kar bi lahko izbrali, je mogoča skoraj vsaka številka. Vzemite drugo ali vprašajte znova z večjo porabo.",
    "compare.few_part": "»{part}« pove premalo za primerjavo: če upoštevamo vse, kar bi lahko izbrali, je mogoča skoraj vsaka številka. Izpustite jo ali vprašajte znova z večjo porabo.",
}
