"""Kaj bere program, ki sprašuje prek HTTP, in kaj je povedano o žetonih, s katerimi sprašuje."""

SENTENCES: dict[str, str] = {
    "token.form": "Žeton potrebuje ime z največ {most} črkami in tabele, za katere velja, ali nobene za vse; žeton za podatke o strežniku ne velja za nobeno tabelo. Popravite in poskusite znova.",
    "token.many": "Imate že {most} žetonov; prekličite katerega, ki ga ne rabite več, nato naredite novega.",
    "token.unknown": "Takega žetona ni ali pa ni vaš; znova odprite seznam žetonov.",
    "door.token": "Za to je potreben vaš žeton, ki ni preklican, kot »Authorization: Bearer …«. Prijavite se, naredite ga pod svojim imenom in ga pošljite.",
    "door.origin": "Ta naslov je za programe, ne za strani v brskalniku. Vprašajte iz zvezka ali skripte.",
    "door.path": "Na tem naslovu ni ničesar. Kaj je na voljo, piše v /api/v1/openapi.json.",
    "door.method": "To se vpraša z {method}; nič ni bilo narejeno.",
    "door.type": "Poslano mora biti JSON, s »Content-Type: application/json«; nič ni bilo narejeno.",
    "door.large": "Poslano je večje od {most} KB; nič ni bilo narejeno. Pošljite manj naenkrat.",
    "door.late": "Kar naj bi bilo poslano, ni prišlo pravočasno; nič ni bilo narejeno. Pošljite znova.",
    "door.json": "Poslano ni en sam objekt JSON z navadnimi števili in malo ravnmi; nič ni bilo narejeno. Popravite in pošljite znova.",
    "door.field": "»{field}« manjka ali ni vrste JSON {kind}; nič ni bilo narejeno. Popravite in pošljite znova.",
    "door.unknown": "»{field}« tu nihče ne bere; znano je: {fields}. Nič ni bilo narejeno; popravite in pošljite znova.",
    "door.slow": "To je bilo preveč naenkrat. Počakajte {seconds} {seconds|sekundo|sekundi|sekunde|sekund}, nato nadaljujte.",
    "door.failed": "Tu je šlo nekaj narobe. Preden vprašate znova, poiščite zahtevo po njeni oznaki; dnevnik strežnika pove vrsto napake.",
}
