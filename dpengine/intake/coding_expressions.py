"""The coding of `encode`, as expressions that a database computes: for tables with rows that may not leave it.

The same public rule for every cell, with the meaning of `encode` and of `raw_cells.kind_of`: it depends only on that
cell and the declaration, and no text can make it fail. It starts from the text that a CSV file would hold (columns t0,
t1, … of a table `texts`), and is written once, in Ibis, for each engine's dialect. Lists are in a table `lists`.

Differences from `encode`: an engine's `trim`, and Spark's `lower`, know fewer spaces and letters than Python's, so a
cell with unusual ones may become “other” where a file's would match. Only engines with decimals of any length round a
number with more than PLACES digits after the point exactly, and distinguish it from a nearly equal number that stands
for none; elsewhere the two are equal if they agree as floats and in their first PLACES digits after the point. None of
this can raise an error or depend on another cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.declared.cell_kinds import (
    ABOVE,
    BELOW,
    EMPTY,
    FITS,
    UNREADABLE,
    WORD,
    listed_kinds,
    numbered,
    unknown_words,
)
from dpengine.declared.date_column import LONGEST_DATE, Date
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import MISSING, Category, Column, ItemSet, Number, Schema
from dpengine.declared.spelling import normal
from dpengine.statistics.raw_cells import LONGEST_NUMBER
from dpengine.statistics.view import Expression

TEXTS, LISTS = "texts", "lists"
ANY_LENGTH = ("postgres",)  # dialects with decimals of any length; others have …
DIGITS, PLACES = 22, 9  # … this many digits, and of them after the point: products and sums then stay below 38
MOST = {True: (10**15, 15), False: (3 * 10 ** (DIGITS - PLACES - 1), PLACES)}  # distance from zero, number of places
MOST_CODE = 10 ** (38 - PLACES)  # a number that stands for none is compared as a decimal of 38 digits
ROUGH = 20  # places after the point in a first guess
MOST_IN_PLACE = 150  # columns: a query in Postgres has at most 1664, and a number takes eleven on its way
_TIME = (
    "((T| +)[0-9]{1,2}[:.][0-9]{2}([:.][0-9]{2}([.,][0-9]{1,9})?)?( ?[AaPp][Mm])?( ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?)?"
)
_SIGNS = "./-"
_USUAL_DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2})?$"


@dataclass(frozen=True)
class Listed:
    """A row of the table `lists`: a spelling in a column's list, its code, and its kind of cell."""

    column: int
    spelled: str
    place: int
    kind: int


def listed(schema: Schema) -> Iterator[Listed]:
    """The rows of the table `lists`, for all declared lists. They are public."""
    for at, column in enumerate(schema.columns.values()):
        if isinstance(column, Category):
            places, kinds = column.spelled(), listed_kinds(column)
            places[""] = column.labels.index(column.missing)
            unknown = column.labels.index(column.unknown)
            for spelled in {*places, *kinds}:
                yield Listed(at, spelled, places.get(spelled, unknown), kinds.get(spelled, UNREADABLE))
        elif isinstance(column, ItemSet):
            for place, item in enumerate(column.values):
                yield Listed(at, normal(item), place, FITS)


def refuse_uncodable(schema: Schema, engine: str = "postgres") -> None:
    """Refuse columns that this engine cannot code where the rows are, before anything is read."""
    most, places = MOST[engine in ANY_LENGTH]
    if engine == "postgres" and len(schema.columns) > MOST_IN_PLACE:
        raise AllowanceError("source.in_place_wide", most=MOST_IN_PLACE)
    for name, column in schema.columns.items():
        if isinstance(column, Number):
            farthest = max(abs(column.lower), abs(column.upper), column.step)
            coarse = all((end * 10**places).denominator == 1 for end in (column.lower, column.step))
            wide = engine not in ANY_LENGTH and any(abs(code) >= MOST_CODE for code in column.codes)
            fine = engine not in ANY_LENGTH and any((code * 10**PLACES).denominator != 1 for code in column.codes)
            if wide or fine or not coarse or farthest * _whole(column)[0] > 10**15 or farthest > most:
                raise AllowanceError("source.in_place_fine", column=name)


def coding(schema: Schema, dialect: Dialect, engine: str, kept: tuple[str, ...] = ()) -> str:
    """SQL that codes the rows of `texts` by the declared `lists`: columns c0, c1, …, f0, f1, …, `fault` and the `kept`
    ones; a column of sets stays text, which coding_sets.py codes. It has stages, each a query over the one before: in a
    single expression every value used twice would be written twice, and so on again."""
    import ibis  # takes half a second, so only when needed

    columns = list(schema.columns.values())
    coded = {at: column for at, column in enumerate(columns) if not isinstance(column, ItemSet)}
    names = list(schema.columns)
    coders = {at: _coder(at, names[at], column, dialect, engine) for at, column in coded.items()}
    kinds = {f"t{at}": "string" for at, _ in enumerate(columns)} | dict.fromkeys(kept, "int64")
    rows, stages = ibis.table(kinds, name=TEXTS), list[str]()
    for number in range(max((len(coder.stages) for coder in coders.values()), default=0)):
        added = [coder.stages[number](rows) for coder in coders.values() if number < len(coder.stages)]
        stage = rows.mutate(**{name: value for columns_of in added for name, value in columns_of.items()})
        for coder in coders.values():
            stage = coder.looked_up(stage, number)
        stages.append(str(ibis.to_sql(stage, dialect=engine)))
        rows = ibis.table(stage.schema(), name=f"stage{number}")
    codes = {f"c{at}": coder.code(rows).cast("int64") for at, coder in coders.items()}
    cell_kinds = {f"f{at}": coder.kind(rows).cast("int16") for at, coder in coders.items()}
    each = [ibis.literal(FITS, "int16"), *cell_kinds.values()]
    least = ibis.least(*each) if cell_kinds else each[0]  # Spark's least needs two values
    left = [*kept, *(f"t{at}" for at, _ in enumerate(columns) if at not in coded)]
    fault = (least < FITS).ifelse(1, 0).cast("int16")
    last = rows.select(**codes, **cell_kinds, fault=fault, **{name: rows[name] for name in left})
    fence = " OFFSET 0" if engine == "postgres" else ""  # keeps Postgres from merging the stages again
    named = ", ".join(f"stage{number} AS ({sql}{fence})" for number, sql in enumerate(stages))
    return f"{f'WITH {named} ' if named else ''}{ibis.to_sql(last, dialect=engine)}"


@dataclass(frozen=True)
class Coder:
    """How to code one column: the columns that each stage adds, then the code and the kind of the cell."""

    stages: tuple[Callable[[Expression], dict[str, Expression]], ...]
    code: Callable[[Expression], Expression]
    kind: Callable[[Expression], Expression]
    looked_up: Callable[[Expression, int], Expression] = lambda rows, stage: rows


def _coder(at: int, name: str, column: Column, dialect: Dialect, engine: str) -> Coder:
    if isinstance(column, Category):
        return _category(at, column)
    if isinstance(column, Date):
        return _day(at, column)
    assert isinstance(column, Number)
    return _number(at, name, column, dialect, engine)


def _category(at: int, column: Category) -> Coder:
    """Codes of a list: listed values and their other spellings have theirs; empty cells are missing, others unknown."""
    import ibis

    unknown = column.labels.index(column.unknown)

    def looked_up(rows: Expression, stage: int) -> Expression:
        if stage != 0:
            return rows
        lists = ibis.table({"list": "int64", "spelled": "string", "place": "int64", "kind": "int64"}, name=LISTS)
        names = {f"spelled{at}": lists.spelled, f"place{at}": lists.place, f"kind{at}": lists.kind}
        own = lists.filter(lists["list"] == at).select(**names)
        return rows.left_join(own, rows[f"s{at}"] == own[f"spelled{at}"])

    return Coder(
        (lambda rows: {f"s{at}": _stripped(rows, at).lower()},),
        lambda rows: rows[f"place{at}"].coalesce(unknown),
        lambda rows: rows[f"kind{at}"].coalesce(UNREADABLE),
        looked_up,
    )


def group_signs(thousands: str) -> str:
    """All signs that may separate thousands: every kind of space, or both apostrophes, as in `raw_cells`."""
    return " \u00a0\u2009\u202f" if thousands == " " else "'’" if thousands == "'" else thousands


def _stripped(rows: Expression, at: int) -> Expression:
    return rows[f"t{at}"].coalesce("").strip()


def _whole(column: Number) -> tuple[int, int, int]:
    """A column's grid in whole numbers (D, L, S): lower = L/D and step = S/D."""
    denominator = lcm(column.lower.denominator, column.step.denominator)
    return denominator, int(column.lower * denominator), int(column.step * denominator)


def _number(at: int, name: str, column: Number, dialect: Dialect, engine: str) -> Coder:
    """Codes of a Number: the nearest grid index, halves to even, clamped into the range. Missing if the text is no
    number, or a number declared to mean no value."""
    import ibis

    last, (scale, low, step) = column.size - 1, _whole(column)
    start, end, lower, upper = (
        _decimal(bound, engine)
        for bound in (column.lower, column.lower + last * column.step, column.lower, column.upper)
    )
    absent = MISSING if column.missing is None else column.code(column.missing)

    def matched(rows: Expression) -> dict[str, Expression]:
        plain = rows[f"s{at}"]
        return {f"m{at}": (plain.length() <= LONGEST_NUMBER) & plain.re_search(_grammar(dialect))}

    def digits(rows: Expression) -> dict[str, Expression]:
        good, plain = rows[f"m{at}"], rows[f"s{at}"]
        bare = plain
        for sign in group_signs(dialect.thousands):
            bare = bare.replace(sign, "")
        endless = "([iI][nN][fF]([iI][nN][iI][tT][yY])?|∞)$"
        above, below = (plain.re_search(f"^{sign}{endless}") for sign in ("[+]?", "-"))
        sides = ibis.cases((good | (plain == ""), 0), (above, 1), (below, -1), else_=0)
        return {f"x{at}": good.ifelse(bare.replace(dialect.decimal, "."), "0"), f"e{at}": sides}

    def guess(rows: Expression) -> dict[str, Expression]:
        held = ibis.greatest(ibis.least(rows[f"v{at}"], end), start) * scale - low
        # A number too near zero for a float would be an error in Postgres, which one row could cause.
        rough = held.cast(f"decimal(38, {ROUGH})") if engine in ANY_LENGTH else held
        return {f"h{at}": held, f"g{at}": (rough.cast("float64") / step).floor().cast("int64")}

    def whole(rows: Expression) -> dict[str, Expression]:
        """The quotient. An engine may round a division; the remainder, which is exact, corrects that."""
        quotient, rest = rows[f"g{at}"], rows[f"h{at}"] - rows[f"g{at}"] * step
        return {f"w{at}": ibis.cases((rest < 0, quotient - 1), (rest >= step, quotient + 1), else_=quotient)}

    def index(rows: Expression) -> dict[str, Expression]:
        twice, floor = (rows[f"h{at}"] - rows[f"w{at}"] * step) * 2, rows[f"w{at}"]
        return {f"i{at}": ((twice > step) | ((twice == step) & (floor % 2 == 1))).ifelse(floor + 1, floor)}

    def code(rows: Expression) -> Expression:
        near = ibis.cases((rows[f"n{at}"] == 0, rows[f"i{at}"]), (rows[f"n{at}"] < 0, 0), else_=last)
        ends = (rows[f"e{at}"] > 0, last), (rows[f"e{at}"] < 0, 0)
        none = [(_none(rows, at, column, engine), absent)] if column.codes else []
        return ibis.cases(*none, (rows[f"m{at}"], near), *ends, else_=absent)

    def kind(rows: Expression) -> Expression:
        value, number, near = rows[f"v{at}"], rows[f"m{at}"], rows[f"n{at}"]
        none = [(_none(rows, at, column, engine), EMPTY)] if column.codes else []
        own = [(_equal(rows, at, exact, engine), place) for exact, place in numbered(name, column).items()]
        inside = ibis.cases(*own, else_=FITS) if own else ibis.literal(FITS, "int8")
        side = ibis.cases(
            ((near < 0) | ((near == 0) & (value < lower)), BELOW),
            ((near > 0) | ((near == 0) & (value > upper)), ABOVE),
            else_=inside,
        )
        ends = (rows[f"e{at}"] > 0, ABOVE), (rows[f"e{at}"] < 0, BELOW)
        return ibis.cases(*none, (number, side), *ends, else_=_without_value(rows[f"s{at}"], column.words))

    first = lambda rows: {f"s{at}": _stripped(rows, at).replace("−", "-")}  # noqa: E731
    value = lambda rows: _value(rows, at, column, engine)  # noqa: E731
    return Coder((first, matched, digits, value, guess, whole, index), code, kind)


def _without_value(text: Expression, words_fit: bool) -> Expression:
    """The kind of a cell that holds neither a number nor a day. `words_fit`: words for “unknown” count as empty."""
    import ibis

    word = text.lower().isin(sorted(unknown_words()))
    return ibis.cases((text == "", EMPTY), (word, EMPTY if words_fit else WORD), else_=UNREADABLE)


def _grammar(dialect: Dialect) -> str:
    whole, point = "[0-9]+", f"[{dialect.decimal}]"
    if dialect.thousands:
        sign = f"[{group_signs(dialect.thousands)}]"
        whole = f"([0-9]{{1,3}}({sign}[0-9]{{2,3}})*{sign}[0-9]{{3}}|[0-9]+)"
    return f"^[+-]?({whole}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]{{1,3}})?$"


def _decimal(value: Fraction, engine: str) -> Expression:
    import ibis

    places = MOST[engine in ANY_LENGTH][1]
    scaled = int(value * 10**places)
    text = f"{'-' if scaled < 0 else ''}{abs(scaled) // 10**places}.{abs(scaled) % 10**places:0{places}d}"
    return ibis.literal(text).cast(_kind(engine))


def _kind(engine: str) -> str:
    return "decimal" if engine in ANY_LENGTH else f"decimal({DIGITS}, {PLACES})"


def _value(rows: Expression, at: int, column: Number, engine: str) -> dict[str, Expression]:
    """Two columns: n is -1, 0 or 1 for numbers below, near or above the range; v is the number, if it is near. Engines
    with decimals of any length read the text as one. The others read a float first, so that a number too long for a
    decimal is never read as one."""
    import ibis

    digits = rows[f"x{at}"]
    if engine in ANY_LENGTH:
        return {f"n{at}": ibis.literal(0, "int64"), f"v{at}": digits.cast("decimal")}
    rough, room = digits.cast("float64"), column.upper - column.lower + column.step
    low, high = (ibis.literal(repr(float(end))).cast("float64") for end in (column.lower - room, column.upper + room))
    near = ibis.cases((rough < low, -1), (rough > high, 1), else_=0)
    return {f"n{at}": near, f"v{at}": (near == 0).ifelse(digits, "0").cast(_kind(engine))}


def _none(rows: Expression, at: int, column: Number, engine: str) -> Expression:
    """Does the cell hold a number declared to mean no value? It may be far from the range, where v is not set; a text
    with the same float is then short enough to be read as a decimal."""
    import ibis

    return rows[f"m{at}"] & ibis.or_(*(_equal(rows, at, code, engine) for code in column.codes))


def _equal(rows: Expression, at: int, number: Fraction, engine: str) -> Expression:
    """Is the cell's number exactly this one?"""
    import ibis

    digits, exact = rows[f"x{at}"], ibis.literal(text_of(number))
    if engine in ANY_LENGTH:
        return rows[f"v{at}"] == exact.cast("decimal")
    kind = f"decimal(38, {PLACES})"
    same = digits.cast("float64") == ibis.literal(repr(float(number))).cast("float64")
    return same & (same.ifelse(digits, "0").cast(kind) == exact.cast(kind))


def _day(at: int, column: Date) -> Coder:
    """Codes of a Date: days from the first, clamped into the range. Missing if the text is no date. Days are computed
    and not cast, so a 30 February is no error."""
    import ibis

    forms: list[tuple[str, tuple[int, int, int]]] = []
    for sign in _SIGNS:
        mark = f"[{sign}]"
        forms.append((f"^([0-9]{{4}}){mark} ?([0-9]{{1,2}}){mark} ?([0-9]{{1,2}}){_TIME}$", (1, 2, 3)))
        if column.order != "ymd":
            places = (3, 2, 1) if column.order == "dmy" else (3, 1, 2)
            forms.append((f"^([0-9]{{1,2}}){mark} ?([0-9]{{1,2}}){mark} ?([0-9]{{4}})[.]?{_TIME}$", places))

    def parts(rows: Expression) -> dict[str, Expression]:
        text, columns = rows[f"s{at}"], {}
        usual = text.re_search(_USUAL_DAY)  # faster, for the form that databases write
        for name, place in (("y", 0), ("o", 1), ("d", 2)):
            cases = [(text == "", "0"), (usual, text.substr(*((0, 4), (5, 2), (8, 2))[place]))]
            cases += [(text.re_search(form), text.re_extract(form, groups[place])) for form, groups in forms]
            columns[f"{name}{at}"] = ibis.cases(*cases, else_="0").cast("int64")
        return columns

    def count(rows: Expression) -> dict[str, Expression]:
        year, month, day = rows[f"y{at}"], rows[f"o{at}"], rows[f"d{at}"]
        leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
        long = ibis.cases((month == 2, leap.ifelse(29, 28)), (month.isin([4, 6, 9, 11]), 30), else_=31)
        short = rows[f"s{at}"].length() <= LONGEST_DATE
        valid = short & (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= long)
        # Days since the first of March of the year 0; Python's count begins 305 days later.
        late = (month <= 2).ifelse(1, 0)
        since, shifted = year - late, month - 3 + late * 12
        days = since * 365 + since // 4 - since // 100 + since // 400 + (shifted * 153 + 2) // 5 + day - 306
        return {f"g{at}": valid, f"p{at}": (days - column.first.toordinal()).cast("int64")}

    def code(rows: Expression) -> Expression:
        return rows[f"g{at}"].ifelse(ibis.greatest(ibis.least(rows[f"p{at}"], column.size - 1), 0), MISSING)

    def kind(rows: Expression) -> Expression:
        day = ibis.cases((rows[f"p{at}"] < 0, BELOW), (rows[f"p{at}"] > column.size - 1, ABOVE), else_=FITS)
        return rows[f"g{at}"].ifelse(day, _without_value(rows[f"s{at}"], column.words))

    return Coder((lambda rows: {f"s{at}": _stripped(rows, at)}, parts, count), code, kind)
