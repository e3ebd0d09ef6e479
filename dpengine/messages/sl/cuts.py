"""Česa odgovor ne šteje tako, kot stoji v datoteki; deli enega stavka."""

SENTENCES: dict[str, str] = {
    "cut.all": "Šteto, kot je določeno: {parts}.",
    "cut.rows": "za vsako vrednost »{column}« {most|šteje|štejeta|štejejo|šteje} največ {most} {most|vrstica|vrstici|vrstice|vrstic}, brez nje nobena",
    "cut.range": "{column} nad {upper} šteje kot {upper}, pod {lower} kot {lower}",
    "cut.range.upper": "{column} nad {upper} šteje kot {upper}",
    "cut.range.lower": "{column} pod {lower} šteje kot {lower}",
    "cut.days": "{column} po {upper} šteje kot {upper}, pred {lower} kot {lower}",
    "cut.days.upper": "{column} po {upper} šteje kot {upper}",
    "cut.days.lower": "{column} pred {lower} šteje kot {lower}",
    "cut.filled": "vrstica brez vrednosti »{column}« šteje kot {value}",
    "cut.list": "česar ni na seznamu ({columns}), šteje kot »{label}«",
    "cut.list.empty": "prazna celica ({columns}) šteje kot »{label}«",
    "cut.list.both": "prazna celica in česar ni na seznamu ({columns}), šteje kot »{label}«",
    "cut.items": "česar ni na seznamu ({column}), se izpusti",
    "cut.set": "za vsako osebo {most|šteje|štejeta|štejejo|šteje} največ {most} {most|element|elementa|elementi|elementov} ({column})",
    "cut.errors": "napake, večje od {value} ({column}), štejejo kot {value}",
}
