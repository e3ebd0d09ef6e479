"""Lekcija 11: komu zaupate?"""

SENTENCES: dict[str, str] = {
    "lesson.11.title": "Komu zaupate?",
    "lesson.11.line": "Skrbniku, mešalcu ali nikomur: koliko stane kaj.",
    "lesson.11.do": "Isto vprašanje, »koliko?«, pri istem ε, z zaupanjem skrbniku, samo mešalcu ali nikomur. Spremenite, koliko oseb sodeluje.",
    "lesson.11.set.people": "Osebe, ki sodelujejo",
    "lesson.11.central": "zaupate skrbniku",
    "lesson.11.tight": "zaupate mešalcu",
    "lesson.11.local": "ne zaupate nikomur",
    "lesson.11.error": "± {error} oseb",
    "lesson.11.bars": "Koliko je odgovor lahko napačen, v 95 od 100 primerov",
    "lesson.11.pile": "Kar mešalec preda naprej za dvanajst izmišljenih oseb: njihove resnice in njihovi kovanci, vse na enem kupu",
    "lesson.11.alt.bars": "Napake: z zaupanjem skrbniku {central} oseb, z zaupanjem mešalcu {tight} oseb, brez zaupanja {local} oseb.",
    "lesson.11.alt.pile": "Štiriindvajset sporočil v naključnem vrstnem redu, enic je {ones}.",
    "lesson.11.one": "Ko sodeluje toliko oseb ({people}), je skrbnikov odgovor napačen za največ {central} oseb, mešalčev za največ {tight}: nobeden ne raste s številom oseb.",
    "lesson.11.two": "Če ne zaupate nikomur, vsak doda svoj šum in ta se sešteva: {local} oseb, {times}-krat toliko kot pri skrbniku. Stokrat več oseb, desetkrat večja napaka.",
    "lesson.11.theorem": "Pri ε = {epsilon}, za mešalca še δ = {delta}. Centralno: diskretni Laplaceov šum enkrat, napaka reda 1/ε.\nMešanje: vsaka oseba pošlje bit in kovanec z verjetnostjo p; kdor vidi premešani kup, vidi pravo število plus binomski šum. Tu je p = {p}, najmanjši, ki natanko ohrani (ε, δ); standardni odklon šuma je {deviation}. Kovanec s predavanj p = 48·ln(2/δ)/(ε²n) bi bil {lecture}.\nLokalno: vsaka oseba obrne bit z verjetnostjo 1/(1+e^ε); napaka je reda √n/ε in v lokalnem modelu bolje ne zmore nihče.\nPredpostavljeni so pošteni udeleženci: kovanec vsakega je del zaščite vseh. Kup je izžreban za dvanajst izmišljenih oseb s p = {small}; dvanajst oseb zares ne skrije nikogar.",
    "lesson.11.source": "Lokalno: Warner 1965; Kasiviswanathan in drugi 2011; spodnja meja Beimel, Nissim, Omri 2008. Mešanje: predavanje 8; Cheu, Smith, Ullman, Zeber, Zhilyaev 2019.",
    "lesson.11.relation": "Vrstica ene osebe (zamenjava ene): število oseb je javno in brez skrbnika ga ni mogoče skriti.",
}
