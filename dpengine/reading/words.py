"""The words of typed questions in English and Slovene, and the stem under which inflected forms of a word meet.

Phrases are separated by upright bars. They are data: to teach the box a word, add it to its line. A question of the
catalogue that has no line here is known by the noun and the title on its card.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache


def bare(text: str) -> str:
    """Small letters without accents: `Obalno-kraška` and `obalno-kraska` are the same."""
    parts = unicodedata.normalize("NFKD", text.lower())
    return "".join(sign for sign in parts if not unicodedata.combining(sign)).replace("đ", "d")


_SL_ENDINGS = tuple(
    "nostjo ostjo nijo ovega ovemu evega imi ega emu ami ama oma ema jem ih im om em ov ev ah eh mi am".split()
    + list("aeiou")
)
_SL_KEEP = {"nostjo": "nost", "ostjo": "ost", "nijo": "n"}
_FLEETING = re.compile(r"(?<=[^aeiou\W])e([bcdfghjklmnprstvz])$")


@lru_cache(maxsize=20_000)
def stem(word: str, lang: str) -> str:
    """The part of a word that its inflected forms share. It need not be a word itself."""
    word = bare(word).replace("'", "").replace("’", "")
    if len(word) <= 3:
        return word
    return _slovene(word) if lang == "sl" else _english(word)


def _slovene(word: str) -> str:
    for ending in _SL_ENDINGS:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3:
            word = rest + _SL_KEEP.get(ending, "")
            break
    return _FLEETING.sub(r"\1", word) if len(word) >= 4 else word


_WHOLE = frozenset(("rating", "ratings"))  # or a rating would be a rate


def _english(word: str) -> str:
    if word in _WHOLE:
        return "rating"
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and re.search("[aeiouy]", rest):
            word = rest[:-1] if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "sl" else rest
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


@dataclass(frozen=True)
class Vocabulary:
    """The words of one language, by what they do in a question."""

    kinds: dict[str, str]  # by the key of a question
    shares: dict[str, str]  # phrases for a percentile
    parts: dict[str, str]  # and for one with “below which”
    before: dict[str, str]  # comparisons before a number: "over 50"
    after: dict[str, str]  # and after it: "50 or more"
    days: dict[str, str]  # comparisons before a date
    small: dict[str, str]  # the other small words, by their part in a question
    periods: dict[str, str]
    units: dict[str, str]
    months: str
    numbers: dict[str, str]
    ordinals: dict[str, str]
    stop: str  # words without a meaning of their own
    rows: str  # what a row may be called
    things: str  # those of them that have no age


EN = Vocabulary(
    kinds={
        "median": "median|typical|typically|middle value|usual|usually|medium|medians|midpoint|normally",
        "mean": "average|mean|avg|on average|averages|averaged|means|ave",
        "count": "how many|number of|count|number|headcount|counts|head count|count of|no of|how often|tally"
        "|amount of people",
        "proportion": "share|percentage|percent|proportion|fraction|what part|rate|ratio|portion|what share|pct|%",
        "histogram": "distribution|histogram|breakdown|bars|bar chart|break down|distributed|frequency|frequencies"
        "|chart",
        "top_item": "most common|most frequent|most popular|most used|best selling|most often|commonest|biggest"
        "|largest|favourite|favorite|top|mode|most|main|most frequently|most typical",
        "sum": "total|sum|in total|altogether|overall|combined|summed|totals|sum total|how much|revenue|turnover"
        "|payroll",
        "iqr": "interquartile range|iqr|middle half|middle 50%|middle 50 percent|inter quartile range|central half",
        "variance": "standard deviation|std|variance|spread|variation|variability|dispersion|spread out|vary|varies"
        "|sd|fluctuate|fluctuates|fluctuation|scatter|std dev|how different|stdev",
        "crosstab": "cross table|crosstab|cross|cross tabulation|contingency table|cross tab|table|combinations"
        "|each combination|cross tabulate",
        "density": "smooth curve|density|smooth|density curve",
        "cdf_tree": "cumulative|cumulative distribution|rising curve|cumulative curve|cumulative share",
    },
    shares={
        "0.25": "worst quarter|poorest quarter|cheapest quarter|lower quartile|first quartile|bottom quarter"
        "|smallest quarter|lowest quarter|q1|1st quartile",
        "0.75": "best quarter|richest quarter|upper quartile|third quartile|top quarter|highest quarter"
        "|largest quarter|q3|3rd quartile",
        "0.1": "lowest decile|first decile|bottom decile|bottom tenth",
        "0.9": "top decile|highest decile|top tenth",
    },
    parts={
        "0.1": "a tenth of|one tenth of",
        "0.25": "a quarter of|one quarter of",
        "0.5": "half of|a half of",
        "0.75": "three quarters of",
    },
    before={
        ">": "over|above|more than|greater than|older than|higher than|longer than|exceeding|exceeds|larger than|>"
        "|bigger than|upwards of|past|beyond|better than",
        ">=": "at least|minimum|from age|>=|≥|no less than|not less than|a minimum of|starting at|min|not under",
        "<": "under|below|less than|younger than|fewer than|lower than|shorter than|smaller than|<|cheaper than"
        "|beneath|worse than",
        "<=": "at most|up to|maximum|no more than|not more than|<=|≤|within|a maximum of|max|not over|not above",
        "=": "exactly|equal to|=|equals|precisely",
    },
    after={
        ">=": "or more|or older|or higher|or above|and over|and older|or over|and above|plus|+|and more|and up"
        "|or longer|or better|upwards|and later|or bigger|or larger|or greater|and higher|and longer|or later",
        "<=": "or less|or younger|or lower|or fewer|or below|and under|or under|and younger|and below|and less"
        "|or shorter|or worse|or smaller|or cheaper|or earlier",
    },
    days={
        ">=": "since|from|starting|as of|beginning",
        ">": "after|later than",
        "<": "before|earlier than|prior to",
        "<=": "until|till|up to|through",
        "=": "in|during|in the year|on|for|of|year|in year",
    },
    small={
        "by": "by|per|for each|for every|each|grouped by|split by|broken down by|across|in each|according to"
        "|depending on|depend on|depends on|by each|in every|of each|separately for|as a function of",
        "versus": "vs|versus|compared to|compared with|against",
        "compare": "compare|does|do|affect|influence|comparison|differ|difference|affects|impact|matter|effect",
        "not": "not|without|non|outside|except|excluding|other than|dont|doesnt|isnt|arent|no|didnt|havent|hasnt"
        "|wasnt|werent|do not|does not|apart from|lacking|never|not in|not from|outside of|out of|neither|nobody"
        "|not a single|not one|not any|unless|cannot|cant|wont|didn|doesn|don|isn|aren|wasn|weren",
        "or": "or|either|nor",
        "and": "and|&|x|×",
        "among": "among|amongst|in|for|within|at|from|inside",
        "have": "have|has|with|are|is|who|that|were|was|had|having|which|live|living|own|earn|study|being|whose|get",
        "own": "own|owns|owner|owners|owning|possess",
        "with": "with|have|has|having|on|receive|receives|receiving|had",
        "between": "between|aged|ages|from",
        "to": "to|-|–|and|through|until|till",
        "which": "which|what",
        "band": "band|bands|group|groups|bracket|brackets|bin|bins|class|classes|range|ranges|interval|intervals|steps",
        "per cent": "%|percent|per cent|pct",
        "percentile": "percentile|centile|quantile|percentiles",
        "top": "top|highest|best|upper|richest|largest|oldest|longest|most expensive|biggest",
        "bottom": "bottom|lowest|worst|poorest|lower|smallest|youngest|shortest|cheapest",
        "below": "below which|under which|within which|below|at most|or less|under|do not exceed|up to|or fewer",
        "none": "none|no|nothing|neither",
        "only": "only|just|solely",
    },
    periods={
        "month": "month|monthly|months",
        "quarter": "quarter|quarterly|quarters",
        "year": "year|yearly|annually|years|calendar year|annual",
        "weekday": "weekday|day of the week|day of week|weekdays|days of the week|week day",
        "month_of_year": "month of year|month of the year|calendar month|months of the year|season",
    },
    units={
        "years": "years old|years of age|years|year olds|yrs|year old|y|yo",
        "money": "€|euros|euro|eur|$|dollars|usd|£|pounds",
        "minutes": "minutes|min|minute|mins",
        "hours": "hours|hour|hrs|hr",
        "days": "days|day",
        "points": "points|pts|stars|star|members|people|persons|items",
    },
    months="january|february|march|april|may|june|july|august|september|october|november|december",
    numbers={
        "1": "one|a single|an",
        "2": "two",
        "3": "three",
        "4": "four",
        "5": "five",
        "6": "six",
        "7": "seven",
        "8": "eight",
        "9": "nine",
        "10": "ten",
        "11": "eleven",
        "12": "twelve|a dozen",
        "13": "thirteen",
        "14": "fourteen",
        "15": "fifteen",
        "16": "sixteen",
        "17": "seventeen",
        "18": "eighteen",
        "19": "nineteen",
        "20": "twenty",
        "30": "thirty",
        "40": "forty",
        "50": "fifty",
        "60": "sixty",
        "70": "seventy",
        "80": "eighty",
        "90": "ninety",
        "100": "a hundred|hundred|one hundred",
        "200": "two hundred",
        "500": "five hundred",
        "1000": "a thousand|thousand|one thousand",
        "2000": "two thousand",
        "3000": "three thousand",
        "5000": "five thousand",
    },
    ordinals={"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth", "6": "sixth"},
    stop="a|an|the|of|to|in|on|at|for|is|are|was|were|be|been|it|its|what|whats|how|do|does|did|there|their|they|we"
    "|our|us|you|me|my|i|give|show|tell|find|get|gets|got|please|want|know|would|like|can|could|people|person|persons"
    "|all|any|some|that|this|these|those|than|then|with|who|whose|whom|which|when|where|have|has|had|having|live"
    "|lives|living|lived|as|from|about|say|see|much|value|values|level|levels|type|types|kind|kinds|data|table|column"
    "|aged|s|t|and|or|so|by|per|go|goes|going|take|takes|took|taking|make|made|out|up|down|week|weekly|currently|now"
    "|here|each|every|start|starts|also|more|most|old|ones|one|own|owns|owner|owners|answer|answers|method|methods"
    "|status|reach|reaches|stay|stays|spread|will|shall|should|let|lets|if|only|just|just|into|between|among|during"
    "|being|while|them|he|she|his|her|work|works|working|worked|done|percentage|look|looks|result|results|figure"
    "|figures|exactly|approximately|about|around|roughly|who've|really|actually|threshold|cutoff|limit|line|point"
    "|compared|everyone|everybody|anyone|sold|bought|buying|buy|buys|use|used|uses|using|number|finished|completed"
    "|came|come|comes|happened|occurred|size|sizes|long|at",
    rows="people|person|resident|patient|customer|client|visit|order|student|employee|worker|staff|respondent|member"
    "|household|individual|inhabitant|citizen|case|record|row|entry|participant|user|buyer|shopper|purchase"
    "|appointment|man|subject|transaction|guest|colleague|resident|population|hire|workforce|pupil|learner",
    things="visit|order|case|record|row|entry|purchase|appointment|transaction|household",
)

SL = Vocabulary(
    kinds={
        "median": "mediana|mediano|mediane|tipičen|tipična|tipično|običajen|običajna|običajno|običajne"
        "|srednja vrednost|navadno|ponavadi|tipični|sredinska vrednost",
        "mean": "povprečje|povprečen|povprečna|povprečni|povprečno|povprečne|v povprečju|povp|povpr|povprečnih"
        "|povprečju|aritmetična sredina",
        "count": "koliko|število|koliko je|stevilo|preštej|kolikokrat|številčnost",
        "proportion": "delež|kolikšen del|kakšen del|odstotek|kolikšen delež|kakšen delež|kolikšen odstotek|procent"
        "|koliko odstotkov|deleža|stopnja|razmerje|koliko procentov|deleži|odstotki|%",
        "histogram": "porazdelitev|histogram|razporeditev|v stolpcih|stolpci|razčlenitev|po skupinah|graf|frekvence"
        "|pogostost|porazdeljeni|porazdeljena|struktura",
        "top_item": "najpogostejši|top|najpogostejša|najpogostejše|najbolj priljubljena|najbolj priljubljen"
        "|najbolj pogosta|največji|največja|največje|najbolje prodajana|največkrat|modus|največ|najpogosteje"
        "|najbolj pogost|najbolj obiskana|najbolj prodajana|prevladujoča|glavni",
        "sum": "vsota|skupaj|skupni|skupna|skupno|seštevek|vsoto|skupen|masa|celoten|celotna|celotni|skupno število"
        "|sestej|promet|prihodki|izkupiček",
        "iqr": "interkvartilni razmik|iqr|srednja polovica|srednjih 50 %|medčetrtinski razmik|kvartilni razmik"
        "|interkvartilni razpon|srednjih 50 odstotkov",
        "variance": "standardni odklon|razpršenost|varianca|razpršeni|razpršen|razpršena|variabilnost|odklon"
        "|raznolikost|razpon|kako različni|standardna deviacija|odstopanje|niha|nihajo|nihanje|variira|variirajo",
        "crosstab": "navzkrižna tabela|križna tabela|križaj|kontingenčna tabela|tabela|kombinacije|prekrižaj"
        "|navzkrižno",
        "density": "gladka krivulja|gostota",
        "cdf_tree": "kumulativna|kumulativna porazdelitev|naraščajoča krivulja|kumulativna krivulja",
    },
    shares={
        "0.25": "najslabša četrtina|najrevnejša četrtina|spodnji kvartil|prvi kvartil|spodnja četrtina"
        "|najnižja četrtina|1. kvartil",
        "0.75": "najboljša četrtina|najbogatejša četrtina|zgornji kvartil|tretji kvartil|zgornja četrtina"
        "|najvišja četrtina|3. kvartil",
        "0.1": "spodnji decil|prvi decil|spodnja desetina",
        "0.9": "zgornji decil|deveti decil|zgornja desetina",
    },
    parts={"0.1": "desetina", "0.25": "četrtina", "0.5": "polovica", "0.75": "tri četrtine"},
    before={
        ">": "nad|več kot|več od|večji od|starejši od|starejših od|višji od|daljši od|daljše od|večja od|>|preko|čez"
        "|dražji od|več kakor|višja od|presega|presegajo|večje od|boljša od|daljša od|dlje kot|dlje od|dalj kot"
        "|daljše kot|starejši kot",
        ">=": "vsaj|najmanj|>=|≥|minimalno|ne manj kot",
        "<": "pod|manj kot|manj od|mlajši od|mlajših od|nižji od|krajši od|krajše od|<|manjši od|nižja od|manjša od"
        "|cenejši od|slabša od",
        "<=": "največ|do|kvečjemu|<=|≤|maksimalno|ne več kot|v največ|do vključno|v roku",
        "=": "natanko|točno|=|enako|enak|enaka",
    },
    after={
        ">=": "ali več|in več|ali višje|ali starejši|in starejši|ali višji|plus|+|ali višja|ali dlje|in starejših"
        "|ali starejših|let ali več|in višje|ali boljša|ali boljše|ali daljša|in boljša|in boljše|ali starejša"
        "|in starejša|ali bolje|ali kasneje|ali pozneje|in kasneje|in pozneje",
        "<=": "ali manj|in manj|ali nižje|ali mlajši|in mlajši|ali nižji|ali mlajših|in mlajših|ali slabša|ali slabše"
        "|ali krajša|in nižje",
    },
    days={
        ">=": "od|od leta|začenši|od vključno",
        ">": "po|po letu|kasneje kot|za",
        "<": "pred|pred letom|prej kot",
        "<=": "do|do leta|do vključno",
        "=": "v|leta|v letu|letu|meseca|v mesecu|za leto|dne|na dan|letos",
    },
    small={
        "by": "po|glede na|za vsak|za vsako|v vsaki|v vsakem|vsaka|na|odvisen od|odvisna od|odvisno od|pri vsaki"
        "|ločeno po|razdeljeno po|za posamezno|v posamezni|posamezni|za vsakega|odvisni od",
        "versus": "proti|v primerjavi z|v primerjavi s|nasproti|primerjano z",
        "compare": "primerjaj|ali|vpliva na|vplivajo na|vpliva|vplivajo|vpliv na|primerjava|razlika|razlikuje|pomeni"
        "|razlike|vpliv|razlikujejo|učinek",
        "not": "ne|brez|ni|niso|izven|zunaj|razen|nima|nimajo|ni bilo|ne živi|ne živijo|nista|nisem|ni iz|niso iz"
        "|niso na|ni v|niso v|nikoli|niso bila|ni bila|niso bili|niti ene|niti enega|niti en|niti ena|niti eno|noben"
        "|nihče|nimamo|nočejo|nikdar",
        "or": "ali|oziroma|bodisi",
        "and": "in|ter|&|x|×|z|s",
        "among": "med|v|pri|za|na|znotraj|iz|izmed",
        "have": "ima|imajo|z|s|ki|je|so|živi|živijo|imel|imeli|katerih|kateri|kadi|čakajo|jih|bilo|imajo",
        "own": "lastnik|lastniki|lastnikov|lastnica",
        "with": "z|s|ima|imajo|imel|imeli|prejema|prejemajo|dobiva",
        "between": "med|med leti|med letoma|od|starih|stari",
        "to": "do|-|–|in",
        "which": "katera|kateri|katero|kje|kaj|katere",
        "band": "skupina|skupine|skupinah|razred|razredih|razredi|pas|pasovih|starostnih|razponih",
        "per cent": "%|odstotkov|odstotek|procent|procentov|odstotki",
        "percentile": "percentil|centil|kvantil|percentila|percentili",
        "top": "zgornjih|najvišjih|najboljših|zgornji|najboljši|najbogatejših|največjih|najstarejših|najdražjih"
        "|najdaljših",
        "bottom": "spodnjih|najnižjih|najslabših|najrevnejših|najmanjših|najmlajših|najcenejših|najkrajših",
        "below": "pod katerim|pod katerimi|do katere|pod katero|največ|ali manj|ne preseže|pod|do katerega|kvečjemu",
        "none": "nič|brez|noben|nobene|nobenega",
        "only": "samo|le|zgolj",
    },
    periods={
        "month": "mesec|mesecih|mesecu|mesečno|meseci|mesecev",
        "quarter": "četrtletje|četrtletjih|četrtletju|kvartal|kvartalih|četrtletij|četrtletno",
        "year": "leto|letih|leta|letno|let",
        "weekday": "dan v tednu|dnevih v tednu|dnevu v tednu|dnevi v tednu|dnevih tedna|dan tedna|dneh v tednu",
        "month_of_year": "mesecih v letu|mesecu v letu|mesec v letu|mesecih leta|koledarskih mesecih|letni čas",
    },
    units={
        "years": "let|leta|letih|leti|leto|let starosti|let stari|letom",
        "money": "€|evrov|evri|eur|evra|evre|evro|evrih",
        "minutes": "minut|min|minute|minuti|minutami",
        "hours": "ur|ure|uri|uro|h|urami",
        "days": "dni|dan|dneh|dnevi|dneva|dnevih",
        "points": "točk|točkami|točke|zvezdic|članov|člane|ljudi|kosov|člani",
    },
    months="januar|februar|marec|april|maj|junij|julij|avgust|september|oktober|november|december",
    numbers={
        "1": "en|eno|ena|enega|enim|eni",
        "2": "dva|dve|dveh|dvema",
        "3": "tri|treh|trije|tremi",
        "4": "štiri|štirih|štirje",
        "5": "pet|petih",
        "6": "šest|šestih",
        "7": "sedem",
        "8": "osem",
        "9": "devet",
        "10": "deset|desetih",
        "11": "enajst",
        "12": "dvanajst",
        "13": "trinajst",
        "14": "štirinajst",
        "15": "petnajst|petnajstih",
        "16": "šestnajst",
        "17": "sedemnajst",
        "18": "osemnajst",
        "19": "devetnajst",
        "20": "dvajset",
        "30": "trideset",
        "40": "štirideset",
        "50": "petdeset",
        "60": "šestdeset",
        "70": "sedemdeset",
        "80": "osemdeset",
        "90": "devetdeset",
        "200": "dvesto",
        "500": "petsto",
        "2000": "dva tisoč",
        "100": "sto",
        "1000": "tisoč",
    },
    ordinals={
        "1": "prvi|prvega|prvem|prva",
        "2": "drugi|drugega|drugem|druga",
        "3": "tretji|tretjega|tretjem|tretja",
        "4": "četrti|četrtega|četrtem|četrta",
        "5": "peti|petega|petem|peta",
        "6": "šesti",
    },
    stop="a|ali|je|so|bi|bo|bilo|bili|bila|bil|sta|smo|ste|si|se|jih|ga|jim|mu|jo|v|na|iz|z|s|pri|za|ki|kot|da|od|do"
    "|ko|kje|kako|kaj|kdo|koliko|kakšen|kakšna|kakšno|kakšni|kolikšen|kolikšna|kolikšno|vseh|vse|vsi|ljudi|ljudje"
    "|oseb|oseba|osebe|živi|živijo|živeči|ima|imajo|imamo|imel|imeli|imelo|tistih|tisti|tiste|te|ta|tega|teh|pokaži"
    "|prikaži|povej|daj|mi|me|prosim|zanima|rad|rada|želim|vem|največ|več|manj|in|ter|pa|tudi|še|že|le|samo|vrsta"
    "|vrste|vrsti|vrst|način|načini|načinov|odgovor|odgovori|o|meja|mejo|let|leta|leti|letih|star|stari|starih|stara"
    "|naprej|časa|čas|vključno|teden|tednu|tedensko|skupaj|po|med|dela|delajo|delavci|delavcev|lastnikov|lastniki"
    "|lastnik|stanuje|stanujejo|stanujočih|bolj|začne|doseže|dosežejo|nova|nove|novih|zbralo|zbrali|potrebovalo"
    "|prodanih|prodani|kjer|kadar|toliko|približno|okoli|sem|ker|vsak|vsaka|vsako|vsaki|razred|končano|končali|ljudmi"
    "|osebah|osebami|podatki|podatek|tabela|stolpec|vrednost|vrednosti|višina|raven|stopnjo|nam|nas|naš|naši|kateri"
    "|katera|katero|katere|katerim|katerih|najvišji|najvišja|posamezni|posamezne|točno|trenutno|danes|zdaj|biti"
    "|prosim|izpiši|izračunaj|znaša|znašajo|navadno|pomeni|velikost|narejenih|mora|morajo|imeti|letoma|ma|majo|takih"
    "|taki|takšnih|taka|se pravi|torej",
    rows="ljudje|človek|oseba|prebivalec|bolnik|pacient|kupec|stranka|pregled|obisk|naročilo|študent|zaposlen|delavec"
    "|uslužbenec|anketiranec|član|gospodinjstvo|posameznik|občan|primer|vrstica|udeleženec|odrasel|kupci|prebivalci"
    "|zaposlitev|nakup|ljudi|študenti|bolniki|naročila|zaposleni|dijak|učenec|gost|sodelavec|državljan|zapis",
    things="pregled|obisk|naročilo|naročil|gospodinjstvo|primer|vrstica|nakup|zapis",
)
LANGUAGES = {"en": EN, "sl": SL}

# Words that people use for the same kind of column, in both languages. A column whose name has one of them is meant by
# all of them, unless another column's own name says it better.
ALIKE = (
    "income|earner|earners|plače|plačo|plačani|zaslužkom|salary|wage|wages|pay|earnings|earn|earns|earning|payroll"
    "|paid|dohodek|plača|zaslužek|zasluži|zaslužijo|prejemki|prihodek",
    "age|how old|kako stari|koliko stari|koliko so stari|koliko je stara|koliko so stare|old|older|younger|aged"
    "|starost|starejši|mlajši|stara|starih|starostnih|stari",
    "cost|bill|bills|fee|fees|pricey|stali|stalo|stanejo|račun|računi|costs|price|spend|spending|spent|expense"
    "|expenses|charge|strošek|stane|cena|porabili|poraba|izdatki|zapravijo|stroški",
    "amount|worth|order value|bill|vredno|vredna|vrednost naročila|račun|revenue|sales|turnover|spend|spent|spending"
    "|znesek|promet|zapravijo|zapravi|porabijo|prihodki|prodaja|prodajo",
    "waiting|waiting room|čakalnica|čakalnici|wait|waits|waited|queue|čakalna|čakanje|čaka|čakalo|čakajo|čakali"
    "|čakanja|čakalne",
    "sex|gender|spol",
    "region|area|province|regija|pokrajina|območje",
    "city|town|place|mesto|kraj|občina",
    "district|borough|neighbourhood|okraj|četrt",
    "smoker|smoke|smokes|smoking|kadilec|kadi|kajenje|kadijo|kadilka|kadilci",
    "car|automobile|drive|drives|driver|drivers|vozilo|voznik|vozniki|cars|vehicle|avto|avta|avtom|avtomobil",
    "remote|remotely|from home|work from home|working from home|na daljavo|od doma|delo na daljavo|home|telework|doma"
    "|domu",
    "delivery|delivery time|čas dostave|arrive|arrives|arrived|ship|shipped|prispe|prispejo|dostavijo|dostavljeno"
    "|prispelo|deliver|delivered|shipping|dostava|dostave|dostavljen|dostavljenih|dostavo|dobava",
    "hired|hire|hires|joined|started|employed|recruited|zaposlitve|zaposlil|zaposlilo|zaposlili|zaposleni|zaposlitev",
    "birth|birthday|born|rojstva|rojen|rojeni|rojenih|rojena|rojstvo",
    "visit|visited|visits|appointment|pregleda|pregled|obisk|obiska|pregledov|pregledi",
    "order|ordered|orders|purchase|naročila|naročilo|naročil|nakup",
    "household|housemates|družine|družini|family|members|gospodinjstva|gospodinjstvo|člani|družina|članov|člane",
    "grade|grades|mark|marks|gpa|ocena|ocene|oceno|ocen",
    "points|score|scored|scores|result|results|točke|točk|rezultat|točkami|zbralo",
    "rating|ratings|stars|star|rated|ocena|zvezdice",
    "service|in the company|at the company|in the firm|with the company|with us|v firmi|v podjetju|pri nas|seniority"
    "|tenure|worked here|been here|delovna doba|delovna|staž",
    "education|educated|izobražen|izobraženi|school|schooling|degree|graduates|izobrazba|šola|izobrazbo",
    "employment|job|occupation|zaposlitev|služba|poklic",
    "payment|pay|paid|pays|paying|plačilo|plačan|plačanih|plača|plačajo|plačano|plačila",
    "quantity|items|pieces|units|količina|kosov|kosi|količino",
    "department|division|unit|oddelek|sektor",
    "programme|program|course|field|major|smer|program|študij",
    "dormitory|student housing|hall of residence|halls|domu|v domu|dorm|dorms|dom|doma|študentski",
    "returned|sent back|send back|vrnejo|vrnili|vračilo|vračila|vrača|vračajo|return|returns|vrnjeno|vrnjenih|vrnjena"
    "|vrnil",
    "sick|ill|sick leave|bolan|bolni|bolna|zboleli|bolniškem dopustu|illness|sickness|bolniška|bolniške|bolniško"
    "|bolniški",
    "overtime|extra hours|nadure|nadur|nadurami",
    "satisfaction|satisfied|happy|happiness|zadovoljstvo|zadovoljni",
    "diagnoses|diagnosis|disease|illness|condition|diagnoza|diagnoze|bolezen",
    "customer|client|buyer|kupca|kupec|kupci|stranka",
    "clinic|department|ward|ambulanta|klinika",
    "contract|contracts|pogodba|pogodbe",
    "height|tall|taller|višina|visok",
    "weight|heavy|heavier|teža|masa",
    "children|kids|otroci|otrok",
    "married|marital|marriage|poročen|stan",
    "hours|time spent|hour|ure|ur",
    "pressure|bp|pritisk|pritiska|tlak",
    "reason|cause|razlog|vzrok",
    "film|movie|films|movies|filmi",
)
# Words that people use for the same value of a list, in both languages. A value that is one of them is meant by all.
SAME_VALUE = (
    "unemployed|jobless|out of work|out of a job|without work|without a job|no job|not employed|not working"
    "|looking for work|brezposeln|brez službe|brez dela|brez zaposlitve|nezaposlen|iskalec zaposlitve",
    "retired|pensioner|pensioners|on a pension|retiree|upokojen|upokojenec|upokojenka|penzionist|v pokoju|v penziji",
    "student|students|študent|študentka|študira",
    "dissatisfied|unhappy|unsatisfied|discontented|nezadovoljen|nezadovoljna|nezadovoljstvo",
    "very satisfied|very happy|zelo zadovoljen|zelo zadovoljna",
    "neutral|indifferent|nevtralen|neopredeljen",
    "law|lawyer|lawyers|legal|pravo|pravnik|pravna|bodoči pravnik",
    "medicine|medical|medics|future doctors|medicina|medicinec|zdravnik|bodoči zdravnik|zdravništvo",
    "engineering|engineer|engineers|strojništvo|strojnik|inženir|inženirstvo",
    "arts|art|artist|artists|umetnost|umetnik|umetnica",
    "accounting|accountant|accountants|accounts|bookkeeping|bookkeeper|računovodstvo|računovodja",
    "sales|salespeople|salesperson|salesman|prodaja|prodajalec|komerciala|komercialist",
    "production|factory|manufacturing|proizvodnja|tovarna",
    "it|programmers|informatics|computing|informatika|informatik|programer|računalničar",
    "logistics|warehouse|logistika|skladišče",
    "permanent|open ended|indefinite|permanently|za nedoločen čas|nedoločen čas|redno|stalna",
    "temporary|fixed term|temp|temps|temporarily|za določen čas|določen čas|začasna",
    "agency|agencijska|agencija|prek agencije|preko agencije",
    "card|credit card|debit card|kartica|kartično|kreditna kartica",
    "cash|gotovina|gotovinsko",
    "transfer|bank transfer|wire|wire transfer|nakazilo|bančno nakazilo",
    "books|book|knjige|knjiga",
    "toys|toy|igrače|igrača",
    "clothes|clothing|apparel|garments|oblačila|obleka|obleke|oblek",
    "electronics|electronic|gadgets|elektronika|elektronske naprave|elektronska",
    "food|groceries|hrana|živila|prehrana",
    "cardiology|heart|cardiac|cardiologist|heart clinic|kardiologija|kardiolog|kardiološka|srčna",
    "dermatology|skin|skin clinic|dermatologist|dermatologija|dermatolog|dermatološka|kožna",
    "orthopaedics|orthopedics|orthopaedic|orthopedic|ortopedija|ortoped|ortopedska",
    "eye clinic|ophthalmology|ophthalmologist|eye doctor|očesna|okulist|oftalmologija|očesna klinika",
    "paediatrics|pediatrics|paediatric|pediatric|paediatrician|pediatrician|children's clinic|otroška|pediatrija"
    "|pediater|pediatrična",
    "diabetes|diabetic|diabetics|sladkorna bolezen|sladkorna|diabetik|sladkorni bolnik",
    "asthma|asthmatic|asthmatics|astma|astmatik",
    "hypertension|hypertensive|visok tlak|hipertenzija|visok krvni tlak|povišan tlak",
    "migraine|migraines|migrena",
    "male|men|man|guys|gentlemen|boys|males|moški|fant|fantje|možje",
    "female|women|woman|ladies|girls|females|ženska|dekle|dekleta|dame|gospe",
    "state|government|government funded|državna|od države",
    "company|corporate|employer|kadrovska|od podjetja",
    "primary|primary school|elementary school|elementary|grade school|osnovna|osnovna šola|osnovnošolska",
    "secondary|secondary school|high school|srednja|srednja šola|srednješolska|gimnazija",
    "college|college degree|višja|višja šola|višješolska",
    "university|university degree|visoka|visoka šola|fakulteta|univerza|univerzitetna|visokošolska",
    "coast|seaside|coastal|obalno-kraška|obala|obalna",
    "highlands|highland|mountains",
    "capital|capital city|osrednjeslovenska|osrednja slovenija",
)
# People by their age. With a number beside it (“children under 10”) the word adds nothing; without one, only a word
# that the law defines becomes a condition, and the others stay unread.
BY_AGE = {
    ">= 18": "adult|adults|grown ups|polnoletni|polnoletna|polnoleten|odrasli|odrasel|odrasla",
    "< 18": "minors|minor|underage|under age|mladoletni|mladoletna|mladoletnik|mladoleten",
    "": "seniors|senior|elderly|old people|older people|young people|youngsters|youth|teenagers|teens|children|child"
    "|kids|kid|infants|babies|seniorji|senior|starostniki|starostnik|starejši občani|mladi|mladina|mladostniki"
    "|najstniki|otroci|otrok|otroke|otrokom",
}
# Students by their year.
BY_YEAR = {"1": "freshmen|freshman|freshers|fresher|bruc|bruci|brucka|brucov", "2": "sophomores|sophomore"}
# Parts of a name that say little: no column is known by one of these alone.
GENERIC = frozenset(
    "of|the|a|on|at|in|date|has|is|number|type|total|average|mean|no|id|name|value|code|per|kind|level|size|time|day"
    "|days|hours|monthly|yearly|datum|ima|je|stevilo|vrsta|skupna|povprecna|povprecni|ime|koda|vrednost|doba|dnevi"
    "|ure|od|do|velikost|mesecni|mesecna|letni|year|leto|way|group|work|delo|customer|kupca|status|any".split("|")
)
