"""The check is part of asking: one rule for every page, plan, session and program.

A question about an unchecked column buys the check first, in the same click: one displayed price, two ledger rows. A
public rule on the check's released figures (`ColumnFound.doubted`) decides whether the question is asked. If not, only
the check is paid for, and `ColumnDoubted` gives the reason and the ways out.

Public facts and the ledger's sums alone choose the check: of all unchecked columns if `CHEAP` buys a close one, else of
the question's own; as exact as that buys, but no finer than one person in `FINE`. Several questions may pay for their
checks together. Where even a rough check of all columns is dear, as many columns as that buys are checked; what stays
unchecked is said before anything is paid and in the headline's size after it, and a session does not answer about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from dpengine.asking.answers import Answer, Preview
from dpengine.asking.column_fit import ColumnFit, Fits, only_fitting
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.id_names import id_like
from dpengine.declared.schema import Category, Column, ItemSet, Number, Schema
from dpengine.declared.spelling import MISSING
from dpengine.declared.unit import Unit
from dpengine.mechanisms.counts.fit_checks import GATE, MOST_COLUMNS
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import say

# Shares of the allowance.
NOTHING = Fraction(1, 200)  # buys a check of all columns that is as fine as is useful
CHEAP = Fraction(199, 10_000)  # just under 2 %: buys the most exact check
DEAR = Fraction(1, 25)  # no check is bought automatically above this …
BOUGHT = Fraction(1, 10)  # … and none is offered above this
# The accuracy of a check: one person in this many.
FINE, CLOSE, ROUGH = 50, 20, 6
OF_ROWS = 6  # the same for counts of ids


class Checked(Protocol):
    """The methods and facts of a table that the rules of this file use."""

    practice: bool
    facts: Facts

    @property
    def schema(self) -> Schema: ...
    def fits(self) -> Fits: ...
    def query(self, key: str, /, **parameters: Json) -> AnyQuery: ...
    def can_read(self, query: AnyQuery) -> bool: ...
    def preview(self, query: AnyQuery) -> Preview: ...
    def at_share(self, query: AnyQuery, share: Fraction) -> AnyQuery | None: ...
    def least_priced(self, query: AnyQuery, wish: Fraction) -> AnyQuery | None: ...


@dataclass(frozen=True)
class WayOut:
    """One way to go on after a refusal: ask another question (`query`) or declare the columns anew (`schema`). With
    neither, only the owner can say something about the column that helps."""

    kind: str  # code, words, widen, name_code, written, list, people, rows, more_rows, cut or fitting
    column: str
    query: AnyQuery | None = None
    schema: Schema | None = None
    code: str = ""

    def words(self) -> str:
        return say(f"fit.way.{self.kind}", column=self.column, code=self.code)


class ColumnDoubted(AllowanceError):
    """A question was not asked because the paid check `check` found faults in its columns. `ways`: how to go on."""

    def __init__(
        self,
        query: AnyQuery,
        reasons: Sequence[str],
        ways: Sequence[WayOut],
        check: Answer | None,
        columns: Sequence[str],
    ) -> None:
        super().__init__("fit.doubted_now" if check is not None else "fit.doubted", reasons=" ".join(reasons))
        self.query, self.check = query, check
        self.reasons, self.ways, self.columns = tuple(reasons), tuple(ways), tuple(columns)


def doubts(fits: Fits, query: AnyQuery, facts: Facts, check: Answer | None = None) -> ColumnDoubted | None:
    """The refusal that the paid checks give this question; None if the question may be asked."""
    if not query.gated and not query.of_people:
        return None
    if facts.unit == Unit.rows() and fits.repeated:
        name, (low, high, rows) = next(iter(fits.repeated.items()))
        reason = say("fit.reason.repeated", column=name, low=low, high=high, rows=rows)
        return ColumnDoubted(
            query, [reason], [WayOut("people", name), WayOut("rows", name, query=query)], check, [name]
        )
    crowded = fits.crowded(facts.unit)
    if crowded is not None and crowded.low >= GATE:
        name, most = str(facts.unit.id_column), facts.unit.at_most
        reason = say("fit.reason.crowded", share=crowded.span(), most=most)
        more, cut = WayOut("more_rows", name), WayOut("cut", name, query=query, code=str(most))
        return ColumnDoubted(query, [reason], [more, cut], check, [name])
    return column_doubts(fits, query, facts, check)


def column_doubts(fits: Fits, query: AnyQuery, facts: Facts, check: Answer | None = None) -> ColumnDoubted | None:
    """As `doubts`, but only for whether cells fit; whether rows belong to people as declared is not considered."""
    doubted = fits.doubted(query) if query.gated else []
    if not doubted:
        return None
    ways = [way for fit in doubted for way in _ways(fit, facts.schema)]
    if (other := only_fitting(query, doubted)) is not None:
        ways.append(WayOut("fitting", doubted[0].column, query=other))
    return ColumnDoubted(query, [fit.reason(query) for fit in doubted], ways, check, [fit.column for fit in doubted])


def _ways(fit: ColumnFit, schema: Schema) -> list[WayOut]:
    """What may mend the declaration of one doubted column, the likeliest fix first."""
    found, column, name = fit.found, fit.declared, fit.column
    assert found is not None
    ways = []
    for code in found.doubted_codes:
        if isinstance(column, Number):
            ways.append(WayOut("code", name, schema=_with(schema, name, with_code(column, code)), code=text_of(code)))
    commonest = max(found.parts, key=lambda part: found.parts[part].value)
    if found.misfit.low > 0 and found.misfit.value >= max((share.value for share in found.codes.values()), default=0):
        if commonest == "word" and (mended := with_unknown_words(column)) is not None:
            ways.append(WayOut("words", name, schema=_with(schema, name, mended)))
        elif commonest in ("below", "above"):
            ways.append(WayOut("widen", name))
            ways += [WayOut("name_code", name)] if isinstance(column, Number) else []
        else:
            ways.append(WayOut("list" if isinstance(column, Category | ItemSet) else "written", name))
    return ways


def ways_in_part(fit: ColumnFit, schema: Schema) -> list[WayOut]:
    """One-click fixes after a check that found too little for a refusal: codes, many zeros, words for “unknown”."""
    column, name = fit.declared, fit.column
    if fit.found is None or not (fit.in_part or fit.zeros):
        return []
    ways = []
    if isinstance(column, Number):
        codes = [*fit.codes, *([Fraction(0)] if fit.zeros else [])]
        mended = [(code, _with(schema, name, with_code(column, code))) for code in codes]
        ways = [WayOut("code", name, schema=anew, code=text_of(code)) for code, anew in mended]
    words = fit.found.parts.get("word")
    if words is not None and words.low > 0 and (anew := with_unknown_words(column)) is not None:
        ways.append(WayOut("words", name, schema=_with(schema, name, anew)))
    return ways


def _with(schema: Schema, name: str, column: Column) -> Schema:
    return replace(schema, columns=schema.columns | {name: column})


def with_code(column: Number, code: Fraction) -> Number:
    """The column, declared anew so that this number means “unknown”."""
    return Number(**_parts(column) | {"codes": [*column.codes, code]})


def with_unknown_words(column: Column) -> Column | None:
    """The column, declared anew so that the usual words for “unknown” count as empty cells; None if the column cannot
    be declared so."""
    if isinstance(column, Number):
        return Number(**_parts(column) | {"words": True})
    if isinstance(column, Date):
        return Date(column.first, column.last, column.order, words=True)
    if isinstance(column, Category) and not column.spellings and not column.complete:
        return Category(column.values, column.unknown, column.missing, column.aliases, spellings=MISSING)
    return None


def _parts(column: Number) -> JsonObject:
    names = ("lower", "upper", "step", "missing", "measure", "codes", "words")
    return {name: getattr(column, name) for name in names}


def check_for(table: Checked, wanted: Iterable[str], questions: int = 1) -> AnyQuery | None:
    """The check that `questions` questions about the columns `wanted` buy first. None if no check is needed, or if even
    a rough check of one column is too dear."""
    if table.practice:
        return None
    fits, names = table.fits(), set(wanted)
    unchecked = [fit.column for fit in fits.all_of(table.schema.columns.items()) if not fit.checked]
    needed = [name for name in unchecked if name in names][:MOST_COLUMNS]
    if not needed:
        return None
    unchecked = [*needed, *(name for name in unchecked if name not in needed)][:MOST_COLUMNS]
    return (
        usual_check(table, unchecked, NOTHING, CLOSE)
        or usual_check(table, unchecked, CHEAP, CLOSE)
        or usual_check(table, needed, CHEAP, ROUGH)
        or _least(table, needed, ROUGH, max(DEAR, min(questions * CHEAP, BOUGHT)))
        or _as_many(table, needed)
    )


def _as_many(table: Checked, needed: Sequence[str]) -> AnyQuery | None:
    """A rough check of as many of the columns `needed` as are affordable; None if not even one is."""
    checks = (_least(table, needed[:many], ROUGH, DEAR) for many in range(len(needed) - 1, 0, -1))
    return next(filter(None, checks), None)


def id_check_for(table: Checked) -> AnyQuery | None:
    """A separate rough check, bought before everything else; None if its result is known, if it does not apply or if it
    is too dear. Under “one row each” the check counts the different values of id-like columns; for a declared id, the
    people with more rows than count. If people turn out to have more rows, everything bought before counts for all of a
    person's rows, at a multiple of its price. So this check is cheap."""
    unit, fits = table.facts.unit, table.fits()
    if table.practice or unit.person:  # made with one row each
        return None
    if unit.id_column is None:
        ids = [name for name in id_like(table.facts) if name not in fits.ids]
    else:
        ids = [unit.id_column] if fits.crowded(unit) is None else []
    asked = table.query("fit_checks", epsilon="1", columns=[], ids=ids, noise="") if ids else None
    if asked is None or not table.can_read(asked):
        return None
    check = table.least_priced(asked, Fraction(table.facts.about, OF_ROWS))
    return check if check is not None and table.preview(check).share <= CHEAP else None


def usual_check(table: Checked, columns: Sequence[str], most: Fraction, least: int) -> AnyQuery | None:
    """The most exact useful check of these columns for at most the share `most` of the allowance; None if that check
    would be less exact than one row in `least`."""
    asked = table.query("fit_checks", epsilon="1", columns=list(columns), noise="")
    finest = table.least_priced(asked, Fraction(asked.most, FINE))
    if finest is not None and table.preview(finest).share <= most:
        return finest
    options = [table.at_share(asked.with_noise(noise), most) for noise in ("", *asked.noises)]
    best = min(filter(None, options), key=lambda option: option.promise().amount, default=None)
    return None if best is None or best.promise().amount > Fraction(asked.most, least) else best


def finer_check(table: Checked, columns: Sequence[str]) -> AnyQuery | None:
    """A check that finds nearly all misfits of columns that were checked only roughly. None if that check costs too
    much."""
    return _least(table, columns, 2 * FINE, BOUGHT)


def _least(table: Checked, columns: Sequence[str], step: int, most: Fraction) -> AnyQuery | None:
    """The check of these columns that is exact to one row in `step`; None if it takes more than the share `most` of the
    allowance."""
    asked = table.query("fit_checks", epsilon="1", columns=list(columns), noise="")
    check = table.least_priced(asked, Fraction(asked.most, step))
    return check if check is not None and table.preview(check).share <= most else None
