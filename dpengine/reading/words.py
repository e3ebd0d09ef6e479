"""The words of typed questions in English and Slovene, and the stem under which inflected forms of a word meet.

Phrases are separated by upright bars. They are data: to teach the box a word, add it to its line. A question of the
catalogue that has no line here is known by the noun and the title on its card.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache


def bare(text: str) -> str:
    """Small letters without accents: `Obalno-kraška` and `obalno-kraska` are the same. No cache: it may be typed."""
    if text.isascii():
        return text.lower()
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
    """The part that the inflected forms of a word share; it need not be a word itself. Cached: not for typed words."""
    return typed_stem(word, lang)


def typed_stem(word: str, lang: str) -> str:
    """The same without a cache, because what was typed is not stored."""
    word = bare(word).replace("'", "").replace("’", "")
    if len(word) <= 3:
        return _SL_IRREGULAR.get(word, word) if lang == "sl" else word
    return _slovene(word) if lang == "sl" else _english(word)


_SL_IRREGULAR = {
    form: root
    for root, forms in {
        "dan": "dan dni dne dneva dnevi dnevih dneh dnevom dnevu dnem dnevov dneve dnevoma dnevni",
        "otrok": "otrok otroka otroku otrokom otroci otroke otrocih otrokoma otrokih",
        "noc": "noc noci nocjo nocmi noceh nocem",
        "kolo": "kolo kolesa kolesu kolesom koles kolesi kolesih kolesoma",
        "drevo": "drevo drevesa drevesu drevesom dreves drevesi drevesih",
    }.items()
    for form in forms.split()
} | {  # no ending, although it looks like one
    root + ending: root
    for root in "sprejem prejem prevzem odvzem najem problem sistem program kilogram gram diagram rezim ekstrem".split()
    for ending in ("", "a", "u", "om", "i", "ov", "e", "ih", "oma", "ski", "ska")
}


def _slovene(word: str) -> str:
    if word in _SL_IRREGULAR:
        return _SL_IRREGULAR[word]
    for ending in _SL_ENDINGS:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3:
            word = rest + _SL_KEEP.get(ending, "")
            break
    word = word[:-1] if word.endswith("rj") and len(word) > 4 else word  # čebelarji
    return _FLEETING.sub(r"\1", word) if len(word) >= 4 else word


_WHOLE = frozenset(("rating", "ratings", "rated"))  # or a rating would be a rate


_IRREGULAR = {
    "made": "make",
    "takings": "proceeds",
    "skis": "ski",
    "seconds": "secs",  # and no ordinal
    "taxis": "taxi",
    "note": "memo",  # and no denial
    "notes": "memo",
    "children": "child",
    "wives": "wife",
    "lives": "live",
    "feet": "foot",
    "mice": "mouse",
    "geese": "goose",
} | {
    form: root
    for root, forms in {
        "sleep": "slept",
        "run": "ran",
        "win": "won winner winners",
        "wear": "wore worn",
        "wake": "woke woken",
        "ride": "rode ridden",
        "drive": "drove driven",
        "swim": "swam swum",
        "grow": "grew grown",
        "lose": "lost loss losses",
        "eat": "ate eaten",
        "drink": "drank drunk",
        "speak": "spoke spoken",
        "choose": "chose chosen choice choices",
        "break": "broke broken",
        "teach": "taught",
        "catch": "caught",
        "fly": "flew flown",
        "lead": "led",
        "lend": "lent",
        "send": "sent",
        "build": "built",
    }.items()
    for form in forms.split()
}


def _english(word: str) -> str:
    if word in _WHOLE:
        return "rating"
    if word in _IRREGULAR:
        word = _IRREGULAR[word]
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


# What a word adds to the one from which it is made: a walker walks, sneženje is sneg, šahisti play šah. By stems.
_MADE = {
    "en": re.compile("(?:ation|ition|ion|ment|ance|ence|ist|er|or|ian|ness|al|ic|ity|iv|y|ou|ful|ship|ly|ist)$"),
    "sl": re.compile(
        "(?:oist|ist|ij|arj|ar|as|avc|lc|c|sk|sck|ski|scin|enj|anj|ac|evn|ovn|n|ov|ev|k|ostn|nost|ost|stv|ic|ik|nik|nic"
        "|lk|ljn|ljanj)$"
    ),
}
_A_FOR_O = re.compile("a([^aeiou])$")
_ALIKE_SOUNDS = str.maketrans("gcs", "zkh")  # sneg: snežiti, Čeh: češki


def roots(word: str, lang: str) -> tuple[str, ...]:
    """What a stem may be made from, longest first, with sounds that change into each other written alike."""
    found, least = [word], 3 if lang == "sl" else 4
    while (shorter := _MADE[lang].sub("", found[-1])) != found[-1] and len(shorter) >= least and len(found) < 3:
        found.append(shorter)
    if lang == "en":
        single = (re.sub(r"([bdgmnprt])\1$", r"\1", part) for part in found)  # deferral: defer
        return tuple(dict.fromkeys(part.rstrip("e") for part in single))
    found = [_A_FOR_O.sub(r"o\1", part) if len(part) > 5 else part for part in found]  # usposabljanje: usposobljen
    spoken = (_FLEETING.sub(r"\1", part) if len(part) > 3 else part for part in found if part)
    return tuple(dict.fromkeys(part[:-1] + part[-1].translate(_ALIKE_SOUNDS) for part in spoken))


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
    edges: dict[str, str]  # the start or end of a span of time
    stop: str  # words without a meaning of their own
    rows: str  # what a row may be called
    things: str  # those of them that have no age
    doers: str  # others, where a column's name has one: “visitor type”


EN = Vocabulary(
    kinds={
        "median": "median|typical|typically|middle value|usual|usually|medium|medians|midpoint|normally",
        "mean": "average|mean|avg|on average|averages|averaged|means|ave",
        "count": "how many|number of|count|number|headcount|counts|head count|count of|no of|how often|tally"
        "|is there any|are there any|is there anyone|is there anybody|amount of people|nr of|nr|num of|nbr of|cnt",
        "proportion": "share|percentage|percent|proportion|fraction|what part|rate|ratio|portion|what share|pct|%",
        "histogram": "distribution|histogram|breakdown|bars|bar chart|break down|distributed|frequency|frequencies"
        "|chart|profile|structure|composition|make up|makeup|pattern|pyramid",
        "top_item": "most common|highest number of|largest number of|greatest number of"
        "|most frequent|most popular|most used|best selling|most often|commonest|biggest"
        "|largest|favourite|favorite|top|mode|most|main|most frequently|most typical|most commonly|busiest|leading"
        "|prefer"
        "|preferred|predominant|dominant|bulk of|the bulk of|majority of|the majority of|mostly|most of the|most of"
        "|sells best|sell best|like best|like most|like the most|liked best|liked most|most liked"
        "|sold most|sold the most|best seller|bestseller|most prevalent|most numerous|most widespread",
        "sum": "total|sum|in total|altogether|overall|combined|summed|totals|sum total|how much|revenue|turnover"
        "|payroll|add up|added up|added together|together|all told|grand total|in all|aggregate|bring in|brought in"
        "|take in",
        "iqr": "difference between the quartiles|difference between quartiles|interquartile range|iqr|middle half"
        "|middle 50%|middle 50 percent|inter quartile range|central half",
        "variance": "standard deviation|std|variance|spread|variation|variability|dispersion|spread out|vary|varies"
        "|sd|deviation|variable|varied|uneven|diverse|fluctuate|fluctuates|fluctuation|scatter|std dev|how different"
        "|consistent|consistency|inconsistent|steady|stable"
        "|stdev|standard dev|std deviation|st dev",
        "crosstab": "cross table|crosstab|cross|cross tabulation|contingency table|cross tab|table|combinations"
        "|each combination|cross tabulate",
        "density": "smooth curve|density|smooth|density curve",
        "cdf_tree": "cumulative|as a curve|at most so many|cumulative distribution|rising curve|cumulative curve"
        "|cumulative share",
    },
    shares={
        "0.25": "bottom quartile|lowest quartile"
        "|worst quarter|poorest quarter|cheapest quarter|lower quartile|first quartile|bottom quarter"
        "|smallest quarter|lowest quarter|q1|1st quartile",
        "0.75": "top quartile|highest quartile"
        "|best quarter|richest quarter|upper quartile|third quartile|top quarter|highest quarter"
        "|largest quarter|q3|3rd quartile",
        "0.1": "lowest decile|first decile|bottom decile|bottom tenth",
        "0.9": "top decile|highest decile|top tenth",
        "0.25 0.5 0.75": "quartiles",
    },
    parts={
        "0.1": "a tenth of|one tenth of",
        "0.25": "a quarter of|one quarter of",
        "0.5": "half of|a half of",
        "0.75": "three quarters of",
    },
    before={
        ">": "over|above|more than|greater than|older than|higher than|longer than|exceeding|exceeds|larger than|>"
        "|bigger than|upwards of|past|beyond|better than|heavier than|taller than|later than|slower than|dearer than"
        "|more expensive than|newer than|costlier than|hotter than|warmer than|exceed|exceeded|wider than"
        "|further than|farther than",
        ">=": "at least|minimum|from age|>=|≥|no less than|not less than|a minimum of|starting at|min|not under"
        "|not below|no fewer than|not fewer than|no younger than|no shorter than",
        "<": "colder than|cooler than|under|below|less than|younger than|fewer than|lower than|shorter than"
        "|smaller than|<|cheaper than"
        "|beneath|worse than|lighter than|faster than|quicker than|earlier than|sooner than",
        "<=": "at most|up to|maximum|no more than|not more than|<=|≤|within|a maximum of|max|not over|not above"
        "|not exceed"
        "|no longer than|no older than|no later than|not exceeding",
        "=": "exactly|equal to|=|equals|precisely",
    },
    after={
        ">=": "at least|minimum|at minimum|or harder|or stronger|or hotter|or warmer|and hotter|and warmer"
        "|or more|or older|or higher|or above|and over|and older|or over|and above|plus|+|and more|and up"
        "|or longer|or better|upwards|and later|or bigger|or larger|or greater|and higher|and longer|or later"
        "|or heavier|and heavier|or taller|and better|or slower|and bigger|or newer|and newer|onwards|onward",
        "<=": "at most|max|maximum|at maximum|tops|or colder|or cooler|and colder|and cooler|or less|or younger"
        "|or lower|or fewer|or below|and under|or under|and younger|and below|and less"
        "|or shorter|or worse|or smaller|or cheaper|or earlier|or lighter|or faster|and fewer|and lower|and cheaper",
    },
    days={
        ">=": "since|from|starting|as of|beginning",
        ">": "after|later than",
        "<": "before|earlier than|prior to|pre",
        "<=": "until|till|up to|through",
        "=": "in|during|in the year|on|for|of|year|in year",
    },
    small={
        "by": "by|per|for each|for every|each|grouped by|split by|broken down by|across|in each|according to"
        "|depending on|depend on|depends on|by each|in every|of each|separately for|as a function of"
        "|vary with|varies with|vary by|varies by|vary across|differ by|differs by|differ across",
        "versus": "vs|v|versus|compared to|compared with|against",
        "compare": "compare|does|do|affect|influence|comparison|differ|difference|differences|affects|impact"
        "|matter|effect",
        "not": "not|without|non|outside|except|excluding|excl|other than|dont|doesnt|isnt|arent|no|didnt|havent|hasnt"
        "|wasnt|werent|do not|does not|apart from|lacking|never|not in|not from|outside of|out of|neither|nobody"
        "|not a single|not even one|not one|not any|zero|unless|cannot|cant|wont|didn|doesn|isn|aren|wasn|weren"
        "|anywhere but|everywhere but|everyone but|everybody but|all but|anything but|but not"
        "|rather than",
        "or": "or|either|nor",
        "and": "and|&|x|×",
        "among": "among|amongst|in|for|within|at|from|inside|out of all|out of everyone|out of all the|of all"
        "|of all the",
        "have": "have|has|with|are|is|who|that|were|was|had|having|which|live|living|own|earn|study|being|whose|get",
        "own": "own|owns|owner|owners|owning|possess",
        "with": "with|have|has|having|win|won|on|receive|receives|receiving|had",
        "between": "between|aged|ages|from",
        "to": "to|-|–|and|&|through|until|till",
        "which": "which|what|which of|which of the|who of|who among",
        "band": "band|bands|group|groups|bracket|brackets|bin|bins|class|classes|range|ranges|interval|intervals|steps",
        "per cent": "%|percent|per cent|pct",
        "percentile": "percentile|centile|quantile|percentiles",
        "top": "furthest|farthest"
        "|top|highest|best|upper|richest|largest|oldest|longest|most expensive|biggest|slowest|heaviest|tallest"
        "|dearest"
        "|priciest|costliest|best paid|highest paid|top paid|greatest|strongest|latest",
        "bottom": "nearest|closest"
        "|bottom|lowest|worst|poorest|lower|smallest|youngest|shortest|cheapest|fastest|quickest|lightest"
        "|lowest paid|worst paid|weakest|earliest|slimmest",
        "below": "below which|by what|by which|under which|within which|below|at most|or less|under|do not exceed"
        "|up to|or fewer",
        "none": "none|no|nothing|neither|zero",
        "only": "only|just|solely",
        "half": "half|half year|half of the year",
        "when": "when|over time|through time|trend",
        "last": "last|final",
        "gratis": "free|free of charge|for free|unpaid",
        "rate": "apiece|per person|per head|per capita",
        "money": "money|how much money|cash flow",
        "takings": "income|revenue|turnover|proceeds|sales|raised|collected|did we earn|did we make|did we sell"
        "|did we take|do we earn|do we make|we earned|we sold",
        "long": "how long|stay|stays|stayed|length of stay|duration|how much time|how quickly|how fast|how slow",
        "alone": "live alone|lives alone|living alone|on their own|by themselves|single person|one pupil alone"
        "|one person alone|alone|solo",
        "related": "related|relate|relates|relation|relationship|correlated|correlation|correlate|correlates|linked"
        "|link"
        "|connected|connection|association|associated|tied|go together|goes together|go hand in hand|dependent",
        "more": "hotter|colder|warmer|cooler|busier|wider|higher|lower|more|less|longer|shorter|older|younger|better"
        "|worse|bigger|smaller|larger|faster|slower"
        "|heavier|lighter|richer|poorer|cheaper|dearer|more expensive|happier|than|than others|than the others"
        "|than the rest|sooner|later|taller|greater|fewer|closer|nearer|further|farther",
    },
    periods={
        "month": "month|monthly|months",
        "quarter": "quarter|quarterly|quarters",
        "year": "year|yearly|annually|years|calendar year|annual|yr",
        "weekday": "weekday|day of the week|day of week|weekdays|days of the week|week day",
        "month_of_year": "month of year|month of the year|calendar month|months of the year|season",
    },
    units={
        "years": "years old|years of age|years|year olds|yrs|year old|yr olds|yr old|y|yo",
        "money": "€|euros|euro|eur|$|dollars|usd|£|pounds",
        "seconds": "secs|sec",
        "minutes": "minutes|min|minute|mins",
        "hours": "hours|hour|hrs|hr|h",
        "days": "days|day",
        "weeks": "weeks|week|wks",
        "months": "months",
        "times": "times",
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
    edges={"start": "start|beginning", "end": "end"},
    stop="a|an|dr|mr|mrs|the|of|to|in|on|at|for|is|are|was|were|be|been|it|its|what|whats|how|do|does|did|there|their"
    "|they|we"
    "|our|us|you|me|my|i|give|show|tell|find|get|gets|got|please|want|know|would|like|can|could|people|person|persons"
    "|all|any|some|that|this|these|those|than|then|with|who|whose|whom|which|when|where|have|has|had|having|live"
    "|lives|living|lived|as|from|about|say|see|much|value|values|level|levels|type|types|kind|kinds|data|table|column"
    "|aged|s|t|and|or|so|by|per|go|goes|going|take|takes|took|taking|make|made|out|up|down|week|weekly|currently|now"
    "|here|each|every|start|starts|also|more|most|old|ones|one|own|owns|owner|owners|answer|answers|method|methods"
    "|status|reach|reaches|stay|stays|spread|will|shall|should|let|lets|if|only|just|just|into|between|among|during"
    "|being|while|them|he|she|his|her|work|works|working|worked|done|percentage|look|looks|result|results|figure"
    "|figures|exactly|approximately|about|around|roughly|who've|really|actually|threshold|cutoff|limit|line|point"
    "|compared|everyone|everybody|anyone|sold|bought|buying|buy|buys|use|used|uses|using|number|finished|completed"
    "|came|come|comes|happened|occurred|size|sizes|long|at|wonder|wondering|interested|thanks|thank|hi|hello|ever"
    "|already"
    "|yet|still|whole|entire|both|bring|brought|receive|received|am|has|having|because|though|but"
    "|it|one|them|calculate|compute|display|list|overview|altogether|give|gives|gave|given|need|needs|needed|read"
    "|reads|end|ends"
    "|lie"
    "|lies|begin|begins|sit|sits|happen|happens|involved|required|included|present",
    rows="people|person|resident|patient|customer|client|visit|order|student|employee|worker|staff|respondent|member"
    "|household|individual|inhabitant|citizen|case|record|row|entry|participant|user|buyer|shopper|purchase"
    "|appointment|man|subject|transaction|guest|colleague|resident|population|hire|workforce|pupil|learner",
    things="visit|order|case|record|row|entry|purchase|appointment|transaction|household|loan|trip|ride|call|incident"
    "|booking|reservation|event|complaint|request|application|report|claim|enquiry|referral|delivery|repair|rental|test"
    "|session|lesson",
    doers="visitor|reader|borrower|passenger|tourist|traveller|player|athlete|listener|viewer|subscriber|applicant"
    "|tenant|voter|guest|driver|donor|owner|caller|animal|vehicle|customer|patient|member",
)

SL = Vocabulary(
    kinds={
        "median": "mediana|mediano|mediane|tipičen|tipična|tipično|običajen|običajna|običajno|običajne"
        "|srednja vrednost|navadno|ponavadi|tipični|sredinska vrednost",
        "mean": "povprečje|povprečen|povprečna|povprečni|povprečno|povprečne|v povprečju|povp|povpr|povprečnih"
        "|povprečju|aritmetična sredina",
        "count": "ali obstaja|ali obstajajo"
        "|koliko|kolko|kulk|št|število|koliko je|stevilo|preštej|kolikokrat|številčnost",
        "proportion": "delež|odst"
        "|kolikšen del|kakšen del|odstotek|kolikšen delež|kakšen delež|kolikšen odstotek|procent"
        "|koliko odstotkov|deleža|stopnja|razmerje|koliko procentov|deleži|odstotki|%",
        "histogram": "porazdelitev|porazdelitve|porazdelitvi|histogram|razporeditev|v stolpcih|stolpci|razčlenitev"
        "|po skupinah|graf|frekvence"
        "|pogostost|porazdeljeni|porazdeljena|struktura|sestava|profil|razdelitev|porazdeljen",
        "top_item": "najpogostejši|največje število|najvišje število|top"
        "|najpogostejša|najpogostejše|najbolj priljubljena|najbolj priljubljen"
        "|najbolj pogosta|največji|največja|največje|najbolje prodajana|največkrat|modus|največ|najpogosteje"
        "|najbolj bran|najbolj brana|najbolj iskan|najbolj iskana|najbolj uporabljan|najbolj uporabljana"
        "|najbolj pogost|najbolj obiskana|najbolj prodajana|prevladujoča|glavni|najraje|najljubši|najljubša|prevladuje"
        "|prevladujejo|večinoma|v glavnem|po večini|najbolj pogosto|najbolj razširjen|najbolj razširjena"
        "|se najbolje prodaja|najbolje se prodaja|najbolje prodajan|najštevilčnejši|najbolj zasedena"
        "|najbolj obiskan|najbolj zaseden|najbolj zasedeno|najbolj zastopan|najbolj zastopana"
        "|najbolj priljubljeno|najbolj priljubljene|najpogostejši",
        "sum": "vsota|skupaj|skupni|skupna|skupno|seštevek|vsoto|skupen|masa|celoten|celotna|celotni|skupno število"
        "|sestej|promet|prihodki|izkupiček|vsega skupaj|sešteto|zbrano|iztržili|iztržek|zaslužili smo",
        "iqr": "razlika med kvartiloma|razlika med kvartili|interkvartilni razmik|iqr|srednja polovica|srednjih 50 %"
        "|medčetrtinski razmik|kvartilni razmik"
        "|interkvartilni razpon|srednjih 50 odstotkov|medkvartilni razmik|medkvartilni razpon",
        "variance": "standardni odklon|razpršenost|varianca|razpršeni|razpršen|razpršena|variabilnost|odklon"
        "|raznolikost|raznolik|raznolika|raznoliko|raznolike|raznoliki|neenakomeren|razpon|kako različni"
        "|kako enakomerni|kako enakomerno"
        "|standardna deviacija|odstopanje|niha|nihajo|nihanje|variira|variirajo",
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
        "0.25 0.5 0.75": "kvartili|kvartile",
    },
    parts={"0.1": "desetina", "0.25": "četrtina", "0.5": "polovica", "0.75": "tri četrtine"},
    before={
        ">": "bolj od|bolj kot|več ko"
        "|nad|več kot|več od|večji od|starejši od|starejših od|višji od|daljši od|daljše od|večja od|>|preko|čez"
        "|dražji od|več kakor|višja od"
        "|prekorači|prekoračijo|prekoračil|prekoračila|prekoračilo|prekoračili"
        "|presega|presegajo|preseže|presežejo|presegel|preseglo|večje od|boljša od"
        "|daljša od|dlje kot|dlje od|dalj kot"
        "|daljše kot|starejši kot|težji od|težja od|težje od|težji kot|težja kot|višje od|večji kot|dražja od|dražje od"
        "|dražji kot|dražje kot|starejša od|starejše od|starejših kot|počasnejši od|boljši od|boljše od|daljši kot"
        "|višji kot"
        "|višja kot|večja kot|prek|novejši od|novejša od|novejše od|novejši kot",
        ">=": "vsaj|najmanj|>=|≥|minimalno|ne manj kot|ne manj od|ne pod",
        "<": "manj ko"
        "|pod|manj kot|manj od|mlajši od|mlajših od|nižji od|krajši od|krajše od|<|manjši od|nižja od|manjša od"
        "|cenejši od|slabša od|lažji od|lažja od|lažje od|cenejša od|cenejše od|cenejši kot|mlajša od|mlajše od"
        "|mlajši kot"
        "|hitrejši od|krajša od|krajši kot|nižje od|nižji kot|slabše od|slabši od|manjše od|prej kot|hitreje kot",
        "<=": "največ|do|kvečjemu|<=|≤|maksimalno|ne več kot|v največ|do vključno|v roku|ne več od|ne nad|ne dlje kot",
        "=": "natanko|točno|=|enako|enak|enaka",
    },
    after={
        ">=": "ali več|in več|ali višje|ali starejši|in starejši|ali višji|plus|+|ali višja|ali dlje|in starejših"
        "|ali starejših|let ali več|in višje|ali boljša|ali boljše|ali daljša|in boljša|in boljše|ali starejša"
        "|in starejša|naprej|dalje"
        "|ali novejši|ali novejša|ali novejše|ali novejših|in novejši|in novejše|ali bolje|ali kasneje"
        "|ali pozneje|in kasneje|in pozneje",
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
        "versus": "proti|vs|napram|v primerjavi|v primerjavi z|v primerjavi s|nasproti|primerjano z",
        "compare": "primerjaj|ali|vpliva na|vplivajo na|vpliva|vplivajo|vpliv na|primerjava|razlika|razlikuje|pomeni"
        "|razlike|vpliv|razlikujejo|učinek",
        "not": "ne|brez|ni|niso|izven|zunaj|razen|nima|nimajo|ni bilo|ne živi|ne živijo|nista|nisem|ni iz|niso iz"
        "|niso na|ni v|niso v|ni na|ni bil|niso bile|nikoli|niso bila|ni bila|niso bili|niti ene|niti enega|niti en"
        "|niti ena|niti eno|noben"
        "|nihče|nimamo|nočejo|nikdar|nobenega|nobene|nobeden|nobena|niti enkrat|niti|ničesar",
        "or": "ali|oziroma|bodisi",
        "and": "in|ter|&|x|×|z|s",
        "among": "med|v|pri|za|na|znotraj|iz|izmed|od vseh|izmed vseh",
        "have": "ima|imajo|z|s|ki|je|so|živi|živijo|imel|imeli|katerih|kateri|jih|bilo|imajo",
        "own": "lastnik|lastniki|lastnikov|lastnica",
        "with": "z|s|ima|imajo|imel|imeli|prejema|prejemajo|dobiva",
        "between": "med|med leti|med letoma|od|starih|stari",
        "to": "do|-|–|in|&",
        "which": "kdo od|kdo izmed|kateri od|katera od|katero od|kateri izmed|katera izmed"
        "|katera|kateri|katero|kje|kaj|katere",
        "band": "skupina|skupine|skupinah|razred|razredih|razredi|pas|pasovih|starostnih|razponih",
        "per cent": "%|odstotkov|odstotek|procent|procentov|odstotki",
        "percentile": "percentil|centil|kvantil|percentila|percentili",
        "top": "zgornjih|najvišjih|najboljših|zgornji|najboljši|najbogatejših|največjih|najstarejših|najdražjih"
        "|najdaljših|najpočasnejših|najtežjih|najbolje plačanih|najboljše|najvišje",
        "bottom": "spodnjih|najnižjih|najslabših|najrevnejših|najmanjših|najmlajših|najcenejših|najkrajših|najhitrejših"
        "|najlažjih|najslabše plačanih|spodnji",
        "below": "pod katerim|pod katerimi|do katere|pod katero|največ|ali manj|ne preseže|pod|do katerega|kvečjemu",
        "none": "nič|brez|noben|nobene|nobenega",
        "only": "samo|le|zgolj",
        "half": "polovica|polovici|polletje|polletju",
        "when": "kdaj|skozi čas|trend",
        "foreign": "tuj|tuja|tuje|tuji|tujih|tujci|tujcev|tujec|tujka|tujke|iz tujine|tujina",
        "last": "zadnji|zadnja|zadnje|zadnjem|zadnjega|zadnjih",
        "gratis": "brezplačen|brezplačna|brezplačno|brezplačne|zastonj",
        "rate": "na osebo|na glavo|na prebivalca",
        "money": "denar|denarja|koliko denarja|koliko evrov|koliko eur|koliko €",
        "takings": "prihodek|prihodki|promet|prodaja|izkupiček|iztržek|zaslužek|prodali smo|smo prodali|smo zaslužili"
        "|zaslužili smo|smo iztržili|smo pobrali|zaslužimo|prodamo|iztržimo|poberemo|pobrali|zbrali|zberemo"
        "|smo unovčili|smo ustvarili|koliko so plačali|koliko so plačale|koliko so zapravili",
        "long": "kako dolgo|koliko časa|kako hitro|kako dolga|kako dolge|trajanje",
        "alone": "živi sam|živijo sami|živi sama|živijo same|enočlanska|enočlansko"
        "|samska gospodinjstva|samsko gospodinjstvo|samskih gospodinjstev|enoosebna|enoosebno",
        "related": "povezan|povezana|povezano|povezani|povezava|povezavo|povezave|povezanost|zveza|zvezi|korelacija"
        "|korelira"
        "|korelirata|soodvisnost|odvisnost|razmerje med|zveza med",
        "more": "toplejši|toplejša|hladnejši|hladnejša|višji|višja|višje|nižji|nižja|nižje|daljši|daljša|daljše"
        "|krajši|krajša|krajše|starejši|mlajši|boljši"
        "|boljša|boljše|bolje|slabši|slabša|slabše|večji|večja|večje|manjši|manjša|manjše|dlje|hitrejši|hitreje"
        "|počasneje|težji|težja|težje|lažji|lažje|dražji|dražje|cenejši|ceneje|bolj|manj|več|kot|od ostalih|od drugih"
        "|kot ostali|kot drugi",
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
        "seconds": "sekund|sekunde|sekundah|sekundi|sekundami|sek",
        "minutes": "minut|min|minute|minuti|minutami",
        "hours": "ur|ure|uri|uro|h|urami|urah|uram",
        "days": "dni|dan|dneh|dnevi|dneva|dnevih",
        "weeks": "teden|tedna|tedne|tednov|tednom|tedni|tednih",
        "months": "mesecev",
        "times": "krat",
        "points": "točk|točkami|točke|zvezdic|članov|člane|ljudi|kosov|člani",
    },
    months="januar|februar|marec|april|maj|junij|julij|avgust|september|oktober|november|december",
    numbers={
        "1": "en|eno|ena|ene|enega|enim|enem|eni",
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
        "1": "prvi|prvega|prvem|prva|prvih|prve",
        "2": "drugi|drugega|drugem|druga",
        "3": "tretji|tretjega|tretjem|tretja",
        "4": "četrti|četrtega|četrtem|četrta",
        "5": "peti|petega|petem|peta",
        "6": "šesti",
    },
    edges={"start": "začetek|začetka|začetku", "end": "konec|konca|koncu"},
    stop="dr|mag|prof|a|ali|je|so|bi|bo|bilo|bili|bila|bil|sta|smo|ste|si|se|jih|ga|jim|mu|jo|v|na|iz|z|s|pri|za|ki"
    "|kot|da|od|do"
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
    "|taki|takšnih|taka|se pravi|torej|plačuje|plačujejo|plačal|vzel|vzeli|vzela|vzelo|dobi|dobijo|dobil|dobili|dobimo"
    "|opravil|opravili|opravita|opravi|opravijo|naredil|naredili|uporablja|uporabljajo|gre|gredo|pride|pridejo|prišel"
    "|prišli"
    "|sploh|ob|uporabljen|uporabljena|potreben|potrebna|prisoten|dal|dala|dalo|dali|daje|dajejo|prodal|prodali"
    "|prodala|ravno|vsega|oz|npr|recimo|hvala|lahko|bodo|bom"
    "|nas|jaz|ti|on|ona|oni|nje|njega|njih|njej|njo|njim|njimi|torej|prišlo|prišla|prihaja|prihajajo"
    "|vozi|vozijo|pelje|peljejo|ostalo|ostali|ostala|ostane|ostanejo|trajal|trajala|trajalo|trajale|traja|trajajo",
    rows="ljudje|človek|oseba|prebivalec|bolnik|pacient|kupec|stranka|pregled|obisk|naročilo|študent|zaposlen|delavec"
    "|uslužbenec|anketiranec|član|gospodinjstvo|posameznik|občan|primer|vrstica|udeleženec|odrasel|kupci|prebivalci"
    "|zaposlitev|nakup|ljudi|študenti|bolniki|naročila|zaposleni|dijak|učenec|gost|sodelavec"
    "|državljan|zapis|dojenček|novorojenček",
    things="pregled|obisk|naročilo|naročil|gospodinjstvo|primer|vrstica|nakup|zapis|vožnja|izposoja|klic|rezervacija"
    "|dogodek|prijava|vloga|zahtevek|pritožba|reklamacija|okvara|dostava|popravilo|zadeva|intervencija|poseg|obravnava"
    "|tečaj|termin",
    doers="obiskovalec|bralec|izposojevalec|potnik|turist|igralec|športnik|poslušalec|gledalec|naročnik|kandidat"
    "|najemnik|volivec|gost|voznik|darovalec|lastnik|klicatelj|žival|vozilo|kupec|bolnik|pacient|član",
)
LANGUAGES = {"en": EN, "sl": SL}

# What a number may be measured in besides time and money, in both languages.
MEASURES = {
    "kg": "kg|kilogram|kilograms|kilo|kilos|kilogrami|kilogramov|kilograme|kil",
    "g": "g|gram|grams|gramov|grami|dag",
    "t": "tonne|tonnes|tons|ton|tone",
    "l": "l|litre|litres|liter|liters|litri|litrov|litra|litre|litrih",
    "m": "m|metre|metres|meter|meters|metrov|metri|metra",
    "cm": "cm|centimetre|centimetres|centimeter|centimeters|centimetrov|centimetri",
    "km": "km|kilometre|kilometres|kilometer|kilometers|kilometrov|kilometri|kilometra",
    "mi": "mile|miles|milj|milje",
    "m2": "m2|m²|sqm|sq m|sq metres|square metres|square meters|kvadratov|kvadrati|kvadrate|kvadratnih metrov",
    "kwh": "kwh|kilowatt hours|kilovatnih ur",
    "ha": "ha|hectare|hectares|hektar|hektarji|hektarjev|hektara|hektari",
    "kw": "kw|kilowatt|kilowatts|kilovat|kilovati|kilovatov|kilovatih",
    "hp": "hp|horsepower|horse power|konjskih moči|konjev",
    "nights": "night|nights|noč|noči|nočitev|nočitve|nočitev",
    "degrees": "°c|°f|degree|degrees|stopinj|stopinje",
}
# How money is measured.
MONEY = frozenset("€ $ £ eur usd gbp chf".split())
# How many of the second one of the first is.
SCALES: dict[tuple[str, str], Fraction | int] = {
    ("kg", "g"): 1_000,
    ("g", "kg"): Fraction(1, 1_000),
    ("t", "kg"): 1_000,
    ("kg", "t"): Fraction(1, 1_000),
    ("km", "m"): 1_000,
    ("m", "km"): Fraction(1, 1_000),
    ("m", "cm"): 100,
    ("cm", "m"): Fraction(1, 100),
}
# Words for yes, and words for no, of a column with a name like the first.
OPPOSITES = (
    (
        "approved|accepted|granted|admitted|odobren|sprejet",
        "rejected|refused|declined|denied|turned down|zavrnjen|odbit",
    ),
    ("settled|resolved|solved|closed|completed|rešen|zaključen", "pending|outstanding|unfinished|odprt|nedokončan"),
    ("passed|opravil|opravljen", "failed|fail|fails|failure|failures|flunked|padel|padli|padla"),
    ("first|prvič|prvi|prva|prvo", "returning|repeat|repeaters|regulars|ponoven|ponovni|ponovna|ponovno"),
    ("new|nov|nova|novo", "existing|returning|obstoječ|obstoječi|stalni|stalna"),
    ("online|splet|spletno", "offline|in person|face to face|osebno|v živo"),
    ("open|odprt|odprto", "closed|shut|zaprt|zaprto"),
    ("late|zamudil|zamujal", "on time|punctual|pravočasno|pravočasen|točen"),
    ("present|prisoten|navzoč", "absent|odsoten|manjkal"),
    ("indoor|indoors", "outdoor|outdoors"),
    ("insured|zavarovan", "uninsured|brez zavarovanja"),
    ("retired|upokojen", "active|still working|aktiven|aktivna|aktivni|aktivne|dejaven"),
    ("tourist|turist|gost", "local|locals|domačin|domačini|domačinov"),
    ("foreign|abroad|tuj|tujec", "domestic|domač|domači"),
    ("survived|alive|preživel|živ", "died|dead|deceased|umrl|umrli|umrla"),
)
# Words that people use for the same kind of column, in both languages. A column whose name has one of them is meant by
# all of them, unless another column's own name says it better.
ALIKE = (
    "income|gross|gross pay|bruto|neto"
    "|earner|earners|zaslužkom|salary|wage|wages|pay|earnings|earn|earns|earning|payroll"
    "|paid|dohodek|plača|zaslužek|zasluži|zaslužijo|prejemki|prihodek",
    "age|how old|kako stari|koliko stari|koliko so stari|koliko je stara|koliko so stare|old|older|younger|aged"
    "|starost|starejši|mlajši|stara|starih|starostnih|stari",
    "cost|worth|vredno|vredna|vreden"
    "|bill|bills|fee|fees|pricey|expensive|how expensive|kako drag|kako draga|kako drago|drag|draga|dragi|stali"
    "|stalo|stanejo|račun|računi|costs|price|spend|spending|spent|expense"
    "|expenses|charge|strošek|stane|cena|porabili|poraba|izdatki|zapravijo|stroški",
    "amount|worth|order value|bill|vredno|vredna|vrednost naročila|račun|revenue|sales|turnover|spend|spent|spending"
    "|znesek|promet|zapravijo|zapravi|porabijo|prihodki|prodaja|prodajo",
    "waiting|waiting room|čakalnica|čakalnici|wait|waits|waited|queue|čakalna|čakanje|čaka|čakalo|čakajo|čakali"
    "|čakanja|čakalne",
    "sex|gender|spol",
    "region|area|province|regija|pokrajina|območje",
    "city|town|places|mesto|kraj|občina",
    "district|borough|neighbourhood|okraj|okrožje|četrt|soseska",
    "smoker|smoke|smokes|smoking|kadilec|kadi|kajenje|kadijo|kadilka|kadilci",
    "car|automobile|drive|drives|driver|drivers|vozilo|voznik|vozniki|cars|vehicle|avto|avta|avtom|avtomobil",
    "surface|floor area|how big|how large|površina|kvadratura|kako velik|kako velika|kako velike|kako veliko",
    "built|construction|constructed|gradnja|zgrajen|zgrajeno",
    "wfh|remote|remotely|from home|work from home|working from home|na daljavo|od doma|delo na daljavo|home|telework"
    "|doma|domu",
    "delivery|delivery time|čas dostave|arrive|arrives|arrived|ship|shipped|prispe|prispejo|dostavijo|dostavljeno"
    "|prispelo|deliver|delivered|shipping|dostava|dostave|dostavljen|dostavljenih|dostavo|dobava",
    "hired|hire|hires|joined|started|employed|recruited|zaposlitve|zaposlil|zaposlilo|zaposlili|zaposleni|zaposlitev",
    "birth|birthday|born|rojstva|rodil|rodila|rodilo|rodili|rojen|rojeni|rojenih|rojena|rojstvo",
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
    "payment|pay|paid|pays|paying|plačilo|plačujejo|plačuje|plačan|plačanih|plača|plačajo|plačano|plačila",
    "quantity|items|pieces|units|količina|kosov|kosi|količino",
    "department|division|unit|oddelek|sektor",
    "programme|program|course|field|major|smer|program|študij",
    "dormitory|student housing|hall of residence|halls|domu|v domu|dorm|dorms|dom|doma|študentski",
    "returned|sent back|send back|vrnejo|vrnili|vračilo|vračila|vrača|vračajo|return|returns|vrnjeno|vrnjenih|vrnjena"
    "|vrnil",
    "sick|ill|sick leave|bolan|bolni|bolna|zboleli|bolniškem dopustu|illness|sickness|bolniška|bolniške|bolniško"
    "|bolniški",
    "overtime|extra hours|nadure|nadur|nadurami",
    "satisfaction|satisfied|happy|happier|happiness|csat|zadovoljstvo|zadovoljni",
    "diagnoses|diagnosis|disease|illness|condition|diagnoza|diagnoze|bolezen",
    "customer|client|buyer|kupca|kupec|kupci|stranka",
    "clinic|department|ward|ambulanta|klinika",
    "contract|contracts|pogodba|pogodbe",
    "distance|trip length|journey length|dolžina poti"
    "|far|how far|how far away|further|farther|oddaljenost|razdalja|daleč|kako daleč|oddaljen|dlje stran",
    "nights|night|overnight stays|length of stay|nočitve|nočitev|noči|prenočitve|prenočil|prenočili",
    "genre|kind of book|zvrst|žanr",
    "transport|commute|way to school|way to work|prevoz",
    "height|tall|taller|višina|visok",
    "kwh|production|produced|produce|proizvodnja|consumption|energy use|electricity use|power use|energy|electricity",
    "weight|heavy|heavier|weigh|weighs|teža|masa|tehta|tehtajo|težek|težka",
    "children|kids|otroci|otrok",
    "married|marital|marriage|poročen|stan",
    "hours|time spent|hour|ure|ur",
    "pressure|bp|pritisk|pritiska|tlak",
    "reason|cause|razlog|vzrok",
    "subject|topic|topics|theme|tema|teme",
    "film|movie|films|movies|filmi",
    "injured|hurt|injury|injuries|wounded|casualties|poškodbe|poškodovan|poškodovani|ranjen|ranjeni",
    "delay|delays|delayed|late|lateness|zamuda|zamude|zamuja|zamujajo|zamudila|zamudili|zamujali",
    "country|nationality|država|države|državljanstvo",
    "fee|dues|membership fee|subscription|članarina|pristojbina|naročnina",
    "price|spend|spends|spent|pay|pays|paid|charged|admission|ticket|entrance fee|cena|vstopnina|vstopnica",
    "training|trainings|train|trains|practice|workouts|trening|treningi|trenira|trenirajo|vadba|vadijo",
    "sport|discipline|panoga|šport",
    "cancelled|canceled|quit|quits|leavers|called off|odpovedan|odpovedana|odpadla|odpadle|odpadel",
    "vaccinated|vaccination|jab|cepljen|cepljenje|cepljeni",
    "renewed|renewal|renew|extended|podaljšan|podaljšanje",
    "category|product|products|goods|article|articles|buy|bought|kategorija|izdelek|izdelki|artikel|blago|kupujejo"
    "|kupuje|kupijo",
    "branch|location|site|podružnica|poslovalnica|enota",
    "carrier|carriers|airline|airlines|prevoznik|prevozniki|letalska družba",
    "passengers|pax|riders|potniki|potnikov",
    "revenue|takings|income|earn|earns|earned|earnings|prihodek|prihodki|izkupiček|iztržek|zaslužek|zasluži|zaslužijo",
    "visitors|attendance|audience|obiskovalci|obisk|gledalci",
    "maker|makers|manufacturer|manufacturers|manufactured|producer|brand|brands|make|znamka|znamke|proizvajalec"
    "|proizvajalci"
    "|izdelovalec",
    "shoe|shoes|footwear|trainers|sneakers|boots|wear|wears|obutev|obut|čevlji|copati|copate|superge",
    "prize|prizes|award|awards|medal|medals|win|wins|winner|winners|prize winner|prize winners|nagrada|nagrade"
    "|nagrajen|priznanje|medalja|medalje",
    "first time|first timer|first timers|rookie|rookies|newcomer|newcomers|beginner|beginners|novice|novices|debutant"
    "|debut|prvič|prvikrat|novinec|novinci|začetnik|začetniki|debitant",
    "bmi|body mass index|indeks telesne mase|itm",
    "co|carbon monoxide|ogljikov monoksid",
    "co2|carbon dioxide|ogljikov dioksid",
    "paid with|paid by|payment method|payment methods|method of payment|payment type|payment types|means of payment"
    "|way of paying|way of payment|ways of paying|plačano z|način plačila|načini plačila|plačilno sredstvo"
    "|vrsta plačila",
    "honey|harvest|yield|med|pridelek|donos",
    "upkeep|maintenance|maintain|maintaining|servicing|vzdrževanje",
    "repair|repairs|fix|fixing|mending|popravilo|popravila",
    "problem|problems|trouble|troubles|težava|težave"
    "|breakdowns|breakdown|break down|breaks down|broke down|fault|faults|failure|failures|outage|outages|defect"
    "|defects|okvara|okvare|napaka|napake",
    "downtime|out of order|out of service|standstill|zastoj|izpad",
    "floors|floor|storeys|storey|stories|nadstropja|nadstropje|etaže",
    "load|capacity|payload|nosilnost|zmogljivost",
    "inspection|inspected|inspections|check|checked|checkup",
    "installation|installed|put in|fitted|vgrajen|vgradnja|nameščen|namestitev",
    "girth|circumference|obseg",
    "crown|canopy|krošnja",
    "diameter|width|premer|širina",
    "caffeine|coffee|kofein|kava",
    "wakeups|awakening|awakenings|wake|waking|prebujanje|prebujanja|zbujanje",
    "sleep|asleep|spanje|spijo|spi",
    "snoring|snore|snores|snorer|snorers|smrčanje|smrči|smrčijo",
    "jury|judge|judges|judging|žirija|sodnik|sodniki",
    "rejenec|rejenci|otrok v rejništvu|otroci v rejništvu|rejniški otrok|foster child|foster children",
    "mentor|supervisor|adviser|mentorica|mentorji",
    "team|teams|ekipa|ekipe|moštvo",
    "budget|spend|spent|spending|cost|costs|funds|proračun|sredstva",
    "charity|donate|donated|donation|donations|dobrodelno|donacija|donacije",
    "finish|finishing|finished|cilj|uvrstitev",
    "pest|pests|parasite|parasites|škodljivec|škodljivci",
    "planted|planting|posajen|zasajen|sajenje",
    "fuel|heating|gorivo|kurivo|energent|kurijo",
    "power|output|moč|zmogljivost",
    "tool|tools|software|program|orodje|orodja|programska oprema",
    "experience|experienced|seniority|izkušnje|staž",
    "permit|licence|license|dovoljenje|licenca",
    "length|long|dolžina|dolg|dolga|dolgo|dolge",
    "engine|motor|motorji",
    "passed|pass|passes|exam|exams|opravil|opravljen|opravljenim|izpit|izpita|izpitom|naredil|naredili|naredila"
    "|narejen|narejenim|narejenega",
    "gestation|gestational|pregnancy|nosečnost|nosečnosti|gestacijski",
    "hair|las|lasje|lase|lasmi",
    "electricity|power supply|elektrika|priklop",
    "flag|flags|nationality|country|zastava|država|državna pripadnost",
    "berth|mooring|moorings|privez|privezi|vez",
    "pier|dock|jetty|pomol|pomoli",
    "enrolled|enrolment|registered|joined|vpisa|vpis|vpisan|vpisani|včlanil|včlanili|včlanjen|pridružil",
    "difference|gap|razlika|razkorak",
    "absent|absence|absences|days off|off sick|odsoten|odsotnost|izostanek|izostanki|manjkal|manjkali|manjkajo|manjka",
    "elevator|lift|lifts|elevators|dvigalo|dvigala|lift",
    "varroa|mite|mites|varoja|varoje|pršica|pršice",
    "found at|location|where found|found where|kraj najdbe|lokacija",
    "los|length of stay|stay|stays|stayed|time in hospital|days in hospital|ležalna doba",
    "ahead|in advance|advance|beforehand|vnaprej|prej",
    "borrowed|borrow|loan|loans|lent|izposojen|izposoja|izposodili",
)
# A column of money whose name has one of the first words is what one pays: it is meant by the others too.
PAID_FOR = (
    "upkeep|maintenance|rent|fare|tuition|toll|fine|deposit|repair|startnina|prijavnina|vpisnina|kotizacija|najemnina"
    "|šolnina|privez|vozovnica|vzdrževanje|popravilo|prispevek",
    "cost|costs|price|fee|fees|pay|pays|paid|paying|spend|spent|spending|charge|expensive|expense|expenses|stane"
    "|stanejo"
    "|stalo|cena|strošek|stroški|plača|plačajo|plačal|plačali|plačuje|plačujejo|drag|draga|dragi",
)
# Words that people use for the same value of a list, in both languages. A value that is one of them is meant by all.
SAME_VALUE = (
    "rubbish|garbage|trash|refuse|smeti|odpadki",
    "email|e mail|electronic mail|mail|e pošta|elektronska pošta",
    "unemployed|jobless|out of work|out of a job|without work|without a job|no job|not employed|not working"
    "|looking for work|brezposeln|brez službe|brez dela|brez zaposlitve|nezaposlen|iskalec zaposlitve",
    "retired|pensioner|pensioners|on a pension|retiree|upokojen|upokojenec|penzionist|v pokoju|v penziji",
    "student|students|študent|študira",
    "employed|in work|in a job|has a job|have a job|with a job|in employment|zaposlen|ima službo|imajo službo"
    "|s službo|v službi",
    "slovenia|slovenian|slovenians|slovene|slovenes|slovenija|slovenec|slovenci",
    "austria|austrian|austrians|avstrija|avstrijec|avstrijci",
    "italy|italian|italians|italija|italijan|italijani",
    "germany|german|germans|nemčija|nemec|nemci|nemški|nemška|nemško",
    "croatia|croatian|croatians|croat|croats|hrvaška|hrvat|hrvati",
    "hungary|hungarian|hungarians|madžarska|madžar|madžari",
    "france|french|francija|francoz|francozi",
    "spain|spanish|spaniards|španija|španec|španci",
    "united kingdom|uk|british|britain|velika britanija|britanec|britanci",
    "united states|usa|us|american|americans|združene države|američan|američani",
    "switzerland|swiss|švica|švicar|švicarji",
    "serbia|serbian|serbs|srbija|srb|srbi",
    "bosnia|bosnian|bosnians|bosna|bosanec|bosanci",
    "czechia|czech republic|czech|czechs|češka|čeh|čehi",
    "poland|polish|poles|poljska|poljak|poljaki",
    "slovakia|slovak|slovaks|slovaška|slovak|slovaki",
    "netherlands|dutch|nizozemska|nizozemec|nizozemci",
    "belgium|belgian|belgians|belgija|belgijec|belgijci",
    "portugal|portuguese|portugalska|portugalec|portugalci",
    "greece|greek|greeks|grčija|grk|grki",
    "ukraine|ukrainian|ukrainians|ukrajina|ukrajinec|ukrajinci",
    "russia|russian|russians|rusija|rus|rusi",
    "turkey|turkish|turks|turčija|turk|turki",
    "china|chinese|kitajska|kitajec|kitajci",
    "japan|japanese|japonska|japonec|japonci",
    "macedonia|north macedonia|macedonian|macedonians|makedonija|severna makedonija|makedonec|makedonci",
    "montenegro|montenegrin|črna gora|črnogorec|črnogorci",
    "kosovo|kosovar|kosovars|kosovec|kosovci",
    "romania|romanian|romanians|romunija|romun|romuni",
    "sweden|swedish|swedes|švedska|šved|švedi",
    "denmark|danish|danes|danska|danec|danci",
    "norway|norwegian|norwegians|norveška|norvežan|norvežani",
    "finland|finnish|finns|finska|finec|finci",
    "ireland|irish|irska|irec|irci",
    "nemščina|nemški|nemška|nemško",
    "died|dead|death|mortality|deceased|die|dies|smrt|umrl|umrla|umrli|umre|umrejo|umrlo",
    "home|at home|domov|doma",
    "bicycle|bike|bikes|biking|cycle|cycling|cyclist|cyclists|kolo|kolesom|kolesar|kolesarji|kolesari|kolesarijo",
    "on foot|walk|walks|walking|walker|walkers|pedestrian|pedestrians|peš|pešec|pešci|pešcev|pešačijo",
    "car|cars|drive|driver|drivers|driving|avto|avtomobil|avtomobilist|vozniki avtomobilov|vozniki avtov",
    "morning|mornings|dopoldan|dopoldne|dopoldanska|zjutraj",
    "afternoon|afternoons|popoldan|popoldne|popoldanska",
    "night|nights|at night|overnight|noč|ponoči|nočna",
    "snow|snowy|snowing|sneg|snežno|sneženje|sneži",
    "rain|rainy|raining|dež|deževno|deževje|dežuje",
    "sun|sunny|sunshine|sonce|sončno",
    "fog|foggy|megla|megleno",
    "wind|windy|veter|vetrovno",
    "dissatisfied|unhappy|unsatisfied|discontented|nezadovoljen|nezadovoljna|nezadovoljstvo",
    "very satisfied|very happy|zelo zadovoljen|zelo zadovoljna",
    "child|children|kid|kids|otrok|otroci",
    "adult|adults|grown up|grown ups|odrasel|odrasli",
    "senior|seniors|elderly|older people|starejši|starostnik|starostniki",
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
    "mobile|mobile phone|phone|mobilno|mobitel|mobilni telefon|telefon",
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
    "male|men|man|guys|gentlemen|boys|males|lads|moški|fant|fantje|možje|deček|dečki|gospodje|samec|samci|samcev",
    "female|women|woman|ladies|girls|females|ženska|dekle|dekleta|dame|gospe|deklica|deklice|punce|samica|samice"
    "|psica|psice",
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
# Months by their season, from the first; winter ends in the next year.
SEASONS = {
    "en": {3: "spring|springtime", 6: "summer|summertime", 9: "autumn|fall", 12: "winter|wintertime"},
    "sl": {
        3: "pomlad|pomladi|spomladi|pomladjo",
        6: "poletje|poletja|poletju|poleti|poletjem",
        9: "jesen|jeseni|jesenjo",
        12: "zima|zime|zimi|zimo|pozimi",
    },
}
# What a mark is called in Slovene.
GRADES = {
    "1": "enka|enko|enke|enic|cvek|cveke",
    "2": "dvojka|dvojko|dvojke|dvojk",
    "3": "trojka|trojko|trojke|trojk",
    "4": "štirica|štirico|štirice|štiric|štirka|štirko",
    "5": "petka|petko|petke|petk|petica|petico",
    "10": "desetka|desetko|desetke|desetk|desetica",
}
# Students by their year.
BY_YEAR = {"1": "freshmen|freshman|freshers|fresher|bruc|bruci|brucka|brucov", "2": "sophomores|sophomore"}
# What happens to a person once.
IN_LIFE = ("birth", "hired", "joined", "enrolled", "registered", "rojstva", "zaposlitve", "vpisa", "včlanitve")
# With these words a column says something of each row, and the word beside them names the row: trip date, rider age,
# vrsta vloge. English has the row first, Slovene last.
OF_ROWS = {
    "en": frozenset("date|day|month|year|type|kind|age|channel|category".split("|")),
    "sl": frozenset("datum|dan|leto|vrsta|tip|starost|kategorija|kraj|kanal|znamka|model".split("|")),
}
# The same beside a word for what happens (`things`): način prijave, and not način plačila.
OF_THINGS = {
    "en": frozenset("reason|outcome|status|source|method|result".split("|")),
    "sl": frozenset("način|razlog|izid|status|vir|oblika".split("|")),
}
# The same, if two columns speak of the same thing: trip minutes and trip price.
OF_EACH = {
    "en": OF_ROWS["en"]
    | frozenset("minutes|hours|days|km|length|number|amount|cost|price|value|status|time".split("|")),
    "sl": OF_ROWS["sl"]
    | frozenset("dnevi|ure|minute|število|znesek|vrednost|cena|čas|trajanje|status|dolžina".split("|")),
}
# How the parts of a column's name are cut short, as in `yr_group` and `st_rejencev`, and the whole word.
CUT_SHORT = dict(
    pair.split(":")
    for pair in (
        "št:število|cat:category|nadom:nadomestno|namest:namestitev|prevož:prevoženi"
        "|yr:year|yrs:years|hr:hour|hrs:hours|wk:week|wks:weeks|mth:month|mths:months|mins:minutes|secs:seconds"
        "|no:number|nr:number|num:number|nbr:number|qty:quantity|amt:amount|avg:average|pct:percent|perc:percent"
        "|bldg:building|dept:department|insp:inspection|prep:preparation|fin:finish|reg:registration|temp:temperature"
        "|dia:diameter|diam:diameter|maint:maintenance|dist:distance|dur:duration|freq:frequency|vol:volume|wt:weight"
        "|ht:height|len:length|lvl:level|grp:group|cust:customer|prod:product|addr:address|exp:experience"
        "|sat:satisfaction|edu:education|educ:education|occ:occupation|emp:employee|cons:consumption|mgr:manager"
        "|acc:account|acct:account|appt:appointment|inst:installation|install:installation|circ:circumference"
        "|diff:difference|dest:destination|orig:origin|loc:location|muni:municipality|org:organisation|sal:salary"
        "|tot:total"
        "|lic:licence|dep:departure|arr:arrival|pts:points|elec:electricity|desc:description|ins:insurance"
        "|veh:vehicle|fav:favourite|med:medication|pat:patient|stud:student|trans:transport"
        "|st:število|štev:število|dat:datum|kol:količina|povp:povprečna|obč:občina|kat:kategorija"
        "|str:strani|nap:naprave|zak:zakonski|izk:izkušnje|izobr:izobrazba|zap:zaposlitev|zaposl:zaposlitev"
        "|preb:prebivalci"
        "|cen:cena|vred:vrednost|del:delovna|tel:telefon|pog:pogodba|podr:področje|obr:obrat|dop:dopust|usp:uspeh"
        "|povr:površina|gosp:gospodinjstvo|ogr:ogrevanje|por:poraba|prev:prevoz|odd:oddelek|konf:konfekcijska"
        "|gest:gestacijski"
        "|dt:date|cnt:count|val:value|typ:type|satisf:satisfaction|resp:response|enrol:enrolment"
        "|prof:profession|mat:material|bal:balance|inv:invoice|pmt:payment|disc:discount|ref:reference|sess:session"
        "|att:attendance|equip:equipment|lang:language|diag:diagnosis|proc:procedure|memb:member|subs:subscription"
        "|gend:gender|ctry:country|src:source|prio:priority|cap:capacity|est:estimated|cmpl:complaint|ret:returned"
        "|canc:cancelled|compl:complaint|hosp:hospital|stn:station|rm:room|sz:size|pers:persons|attend:attendance"
        "|plac:plačilo|razd:razdalja|traj:trajanje|odh:odhod|prih:prihod|obj:objava|grad:gradnja|roj:rojstva"
        "|znes:znesek|stros:strošek|strosk:strošek|vel:velikost|tez:teža|vis:višina|dolz:dolžina|dolž:dolžina"
        "|zadov:zadovoljstvo|zadovolj:zadovoljstvo|prisot:prisotnost|toc:točke|tock:točke|izob:izobrazba|zam:zamuda|prij:prijava|razr:razred|drž:država"
        "|popr:popravilo|okv:okvara|rač:račun|rac:račun|pregl:pregled|odsot:odsotnost|oddalj:oddaljenost|proiz:proizvajalec"
        "|zavar:zavarovanje|naroč:naročilo|reklam:reklamacija|nočit:nočitve|zap:zaposlitev|dobav:dobavitelj"
    ).split("|")
)
# What a column is called whose values come from a table of usual spellings, whatever its own name.
LISTED_AS = {
    "sex-1": "sex|gender|spol",
    "marital-1": "marital status|zakonski stan",
    "employment-1": "employment|employment status|zaposlitev|zaposlitveni status",
    "schooling-1": "education|schooling|izobrazba|stopnja izobrazbe",
    "weekdays-1": "weekday|day of the week|dan v tednu",
    "months-1": "month|mesec",
}
# Where something is: “where do most of them live?” is about a column whose name has one of these words.
PLACES = (
    "station branch site ward postaja podruznica enota country region city town district state county village place"
    " location apiary venue store shop field hall unit drzava regija mesto kraj obcina okraj stojisce lokacija enota"
    " poslovalnica prodajalna dvorana naselje cetrt"
).split()
# Words that open a clause about some of the rows, and those in it that say nothing by themselves.
RELATIVE = {
    "opening": frozenset("who that which whose ki kateri katera katere katerih".split()),
    "helping": frozenset(
        "who that which is are was were be been being has have had do does did they them he she it we i you to the a an"
        " of in on at for with from as all any some there would like can could will shall should please one ones own"
        " ever already yet still also really actually currently now get gets got want need say said answer answers"
        " ki je so bil bila bilo bili bile jih jo ga se si bi tudi še že v na z s za kaj".split()
    ),
}
# Parts of a name that say little: no column is known by one of these alone.
GENERIC = frozenset(
    "of|the|a|on|at|in|date|has|is|number|type|total|average|mean|no|id|name|value|code|per|kind|level|size|time|day"
    "|days|hours|monthly|yearly|datum|ima|je|stevilo|vrsta|skupna|povprecna|povprecni|ime|koda|vrednost|doba|dnevi"
    "|ure|od|do|velikost|mesecni|mesecna|letni|year|leto|way|group|work|delo|customer|kupca|status|any|st|num|nr|nbr"
    "|dat".split("|")
)
# Everyday words for what a table may hold besides. They are never taken for misspellings of this table's words.
ELSEWHERE = (
    "religion|religious|nationality|language|languages|colour|color|name|names|surname|address|phone|email|weather"
    "|temperature|hobby|hobbies|pet|pets|dog|dogs|cat|cats|party|vote|votes|politics|author|authors|writer|title"
    "|teacher|teachers|professor|doctor|doctors|nurse|nurses|boss|manager|managers|trainer|coach|husband|wife|mother"
    "|father|parents|brother|sister|friend|friends|marriage|divorced|single|widowed|rent|loan|mortgage|debt|tax|taxes"
    "|profit|bonus|bonuses|insurance|alcohol|drink|drugs|medication|vaccine|blood|eyes|hair|shoes|house|flat|garden"
    "|street|country|county|village|school|class|brand|model|colour|reason|opinion|question|internet|computer|mobile"
    "|lunch|dinner|breakfast|coffee|restaurant|hotel|music|sport|sports|holiday|vacation|travel|bus|train|plane|bike"
    "|channel|channels|chanel|form|forms|trouble|troubles|problem|problems|kanal|težava|težave|obrazec"
    "|vera|veroizpoved|narodnost|jezik|jeziki|barva|ime|imena|priimek|naslov|telefon|vreme|temperatura|konjiček|pes"
    "|psi|mačka|stranka|volitve|politika|avtor|avtorji|pisatelj|učitelj|profesor|zdravnik|zdravniki|sestra|šef|vodja"
    "|direktor|trener|mož|žena|mati|mama|oče|starši|brat|prijatelj|poroka|ločen|samski|vdova|najemnina|posojilo"
    "|kredit|dolg|davek|davki|dobiček|premija|bonus|zavarovanje|alkohol|pijača|droge|zdravilo|zdravila|cepivo|kri|oči"
    "|lasje|čevlji|hiša|stanovanje|vrt|ulica|država|občina|vas|razred|znamka|model|vzrok|mnenje|internet|računalnik"
    "|kosilo|večerja|zajtrk|kava|restavracija|gostilna|hotel|glasba|šport|počitnice|dopust|potovanje|vlak|letalo|kolo"
    "|pasma|meso|vozovnica|dostavljavec|voznik|potuje|potujejo|potovati"
)
# Slovene words for a woman, by her doing or standing: the word for the man follows by rule, or stands here.
_WOMEN = re.compile(r"(\w{3,}?)(k|ic|inj)(?:a|e|i|o|ah|am|ami|)")
_MEN = {
    "k": "upokojen:upokojenec|student:student|delav:delavec|prebival:prebivalec|pacient:pacient|usluzben:usluzbenec"
    "|sodelav:sodelavec|ucen:ucenec|obcan:obcan|drzavljan:drzavljan|kadil:kadilec|zaposlen:zaposlen|iskal:iskalec"
    "|tekmoval:tekmovalec|igral:igralec|obiskoval:obiskovalec|bral:bralec|plaval:plavalec|nogometas:nogometas"
    "|odbojkar:odbojkar|sportnik:sportnik|nekadil:nekadilec|kup:kupec|programer:programer|umetnik:umetnik"
    "|brezposeln:brezposeln|lastnik:lastnik|porocen:porocen",
    "ic": "clan:clan|upravljav:upravljavec|lastn:lastnik|uporabn:uporabnik|potn:potnik"
    "|udelezen:udelezenec"
    "|sportn:sportnik|umetn:umetnik|pravn:pravnik|strojn:strojnik|boln:bolnik|vozn:voznik|gost:gost"
    "|prostovolj:prostovoljec",
    "inj": "dijak:dijak|kolegi:kolega|svetovalk:svetovalec",
}
_MAN_OF = {
    (stem_, ending): man
    for ending, line in _MEN.items()
    for stem_, man in (pair.split(":") for pair in line.split("|"))
}


_NO_WOMEN = tuple(
    "petk petic enk enic dvojk trojk stirk stiric desetk stevilk znamk oznak vozovnic vstopnic tablic izkaznic".split()
)


def women(word: str) -> tuple[str, bool] | None:
    """The man's word for a Slovene word that means women alone, and whether it is a listed one. Without accents."""
    parts = _WOMEN.fullmatch(word)
    if parts is None or word.startswith(_NO_WOMEN):
        return None
    if man := _MAN_OF.get((parts[1], parts[2])):
        return man, True
    if parts[2] == "k" and re.search("[aei][lv]$", parts[1]):  # prevajal-ka: prevajalec
        return parts[1] + "ec", False
    doer = re.search("(?:ar|as|ac|ist|al|av|er|ant|ent|et|or)$", parts[1])  # odbojkar-ica
    if doer or parts[2] != "ic":
        return (parts[1], False) if doer else None
    return parts[1] + "ik", False  # rejnica: rejnik
