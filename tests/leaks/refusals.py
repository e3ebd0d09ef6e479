"""Every refusal a person can meet, and how it is caused on tables full of canaries."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from leaks import bombs, refusal_compared, refusal_grouped, refusal_looks, refusal_tables, sheets
from leaks import refusal_acts as acts
from leaks.refusal_bench import Bench
from leaks.stage import schema

import dpengine as dp
from dpengine.accountant.filter import Rule
from dpengine.asking.receipts import MOST_BYTES, read_receipts
from dpengine.commands import backup
from dpengine.commands.move import arrive
from dpengine.commands.verify import _bytes
from dpengine.core.amounts import read_delta, read_epsilon
from dpengine.core.exact import read_typed
from dpengine.declared.dialect import Dialect
from dpengine.declared.unit import Unit
from dpengine.ledger.sqlite_file import VERSION
from dpengine.mechanisms import catalogue
from dpengine.released.curves import sample
from dpengine.statistics.features import model_from_json
from ui.data import change, columns, draft
from ui.shell import incoming as uploads

Cause = Callable[[Bench], Any]
N, C, S = dp.Number, dp.Category, dp.ItemSet


MODEL = {
    "kind": "linear",
    "features": [["age", schema()["age"].as_json()]],
    "target": ["far", schema()["far"].as_json()],
    "bits": 24,
    "weights": [0, 2**20],
}

CAUSES: dict[str, Cause] = {
    # A file that comes in, with a fault of form in a line that holds a canary.
    "load.absent": lambda b: b.add(b.folder / "nobody.csv"),
    "load.empty": lambda b: b.load(b""),
    "load.bad_records": lambda b: b.load(f"a\n{b.cell}\n", bad_records="guess"),
    "load.ragged": lambda b: b.load(f"a,b\n1,2\n{b.cell},4,{b.digits}\n"),
    "load.quoting": lambda b: b.load(f'a,b\n1,2\n"{b.cell}" x,{b.digits}\n'),
    "load.line_end": lambda b: b.load(f"a,b\n1,2\n{b.cell}\r,{b.digits}\n"),
    "load.header_quoting": lambda b: b.load(f'a,"b\n1,{b.cell}\n'),
    "load.broken": lambda b: b.load(f'a,b\n1,"2"x{b.cell}\n', dialect=Dialect(line_breaks=True)),
    "load.unclosed": lambda b: b.load(f'a,b\n1,"{b.cell}\n', dialect=Dialect(line_breaks=True)),
    "load.long_line": lambda b: b.load(f"a,b\n1,{b.cell * 60_000}\n"),
    "load.long": lambda b: b.load(f'a,b\n1,"{(b.cell + chr(10)) * 60_000}"\n', dialect=Dialect(line_breaks=True)),
    "load.encoding": lambda b: b.load(f"a,b\n1,{b.cell}".encode() + b"\xe8\n"),
    "load.header_encoding": lambda b: b.load(b"a\xe8,b\n1," + b.cell.encode()),
    "load.no_header": lambda b: b.load(f",,\n1,{b.cell},3\n"),
    "load.no_names": lambda b: b.load(f"12,{b.cell}\n1,2\n"),
    "load.no_rows": lambda b: b.load("a,b\n"),
    "load.name_blank": lambda b: b.load(f"a,,b\n1,2,{b.cell}\n"),
    "load.name_twice": lambda b: b.load(f"a,a\n1,{b.cell}\n"),
    "load.many_columns": lambda b: b.load(",".join(f"n{n}" for n in range(1001)) + f"\n{b.cell}\n"),
    "column.name_long": lambda b: b.load("a" * 201 + f",b\n1,{b.cell}\n"),
    "column.name_signs": lambda b: b.load(f"a\u202eb,c\n1,{b.cell}\n"),
    "load.swollen": lambda b: b.add(bombs.many_rows(b.folder / "many.parquet")),
    "load.is_parquet": lambda b: b.load(b"PAR1" + b.cell.encode()),
    "load.not_parquet": lambda b: b.add(b.put(b.cell, "x.parquet")),
    "load.unreadable": lambda b: b.add(b.put(b"PAR1" + b.cell.encode() * 9 + b"PAR1", "y.parquet")),
    **sheets.CAUSES,
    "load.not_text": lambda b: b.load(b"PK\x03\x04" + b.cell.encode()),
    "load.column_kind": lambda b: b.add(acts.parquet(b, a=[[b.cell], [b.digits]])),
    "load.folder_empty": lambda b: b.add(acts.folder(b)),
    "load.folder_names": lambda b: b.add(acts.folder(b, f"a\n{b.cell}\n", f"b\n{b.digits}\n")),
    "load.unwritable": acts.unwritable,
    "load.cancelled": acts.stopped,
    "column.absent": lambda b: b.load(f"b\n{b.cell}\n"),
    "unit.missing": lambda b: b.load(f"a\n{b.cell}\n", unit=None),
    "unit.column": lambda b: dp.Unit.column("", 1),
    "unit.whose": lambda b: draft.unit(draft.Draft(many="one", names=["xyz"])),
    "unit.sure": lambda b: draft.unit(draft.Draft(many="one", names=["patient id"])),
    "unit.at_most": lambda b: dp.Unit.column("who", 0),
    "unit.unknown": lambda b: Unit.from_json({"kind": "herd"}),
    "facts.people_public": lambda b: b.small().correct_people(3),
    "sample.one_row": lambda b: b.load(f"a\n{b.cell}\n", unit=dp.Unit.column("a", 2), sample=True),
    "sample.yes_no": lambda b: b.small().declare_sample(b.cell),
    "facts.rows": lambda b: b.load(f"a\n{b.cell}\n", relation="add_remove", about_rows=0),
    "facts.rows_needed": lambda b: b.load(f"a\n{b.cell}\n", relation="add_remove"),
    "relation.unknown": lambda b: b.load(f"a\n{b.cell}\n", relation="cousin"),
    "table.name": lambda b: b.stage.workspace.add_table(
        "a\nb", b.put(b.cell), schema=schema(), unit=dp.Unit.rows(), budget=dp.Budget()
    ),
    "table.exists": lambda b: b.stage.workspace.add_table(
        b.table.name, b.put(b.cell), schema=schema(), unit=dp.Unit.rows(), budget=dp.Budget()
    ),
    "table.unknown": lambda b: b.stage.workspace.table("nobody"),
    "budget.unknown": lambda b: b.load(f"a\n{b.cell}\n", budget="nobody"),
    "budget.other_terms": lambda b: b.add(b.stage.source / "0.csv", {"far": N(0, 9)}, unit=dp.Unit.column("note", 1)),
    "protect.offered": lambda b: b.add(b.stage.source / "0.csv", {"far": N(0, 9)}, unit=dp.Unit.column("note", 3)),
    "budget.several": lambda b: (
        b.load(f"a,b\n1,{b.cell}\n"),
        b.load(f"a,b\n2,{b.cell}\n"),
        b.add(acts.folder(b, f"a,b\n1,{b.cell}\n", f"a,b\n2,{b.cell}\n")),
    ),
    "content.read_otherwise": lambda b: (
        b.load(f"a,b\n3,{b.cell}\n", **acts.WHOSE),
        b.load(f"a,b\n3,{b.cell}\n", dialect=dp.Dialect(quote="'"), **acts.WHOSE),
    ),
    "content.part_known": lambda b: (
        b.load(f"a,b\n4,{b.cell}\n", **acts.WHOSE),
        b.add(acts.folder(b, f"a,b\n4,{b.cell}\n", f"a,b\n5,{b.cell}\n"), **acts.WHOSE),
    ),
    "budget.practice": lambda b: (
        b.stage.workspace.table("clinic").ask(b.stage.workspace.table("clinic").suggestions()[0]),
        b.load(f"a\n{b.cell}\n", budget=b.stage.workspace.table("clinic").budget.id),
    ),
    "budget.epsilon_range": lambda b: dp.Budget("0"),
    "budget.delta_range": lambda b: dp.Budget("1", "1"),
    "budget.share_range": lambda b: Rule.make(Fraction(1), Fraction(1, 10), Fraction(2)),
    "budget.rule_unknown": lambda b: Rule.from_json({"kind": "guess"}),
    "workspace.secret": acts.secret,
    # What is declared.
    "schema.empty": lambda b: dp.Schema({}),
    "schema.unreadable": lambda b: dp.Schema({"a": b.cell}),  # type: ignore[dict-item]
    "schema.unknown_key": lambda b: dp.Schema.from_json({"columns": [], "more": b.cell}),
    "column.name_blank": lambda b: dp.Schema({" ": N(0, 1)}),
    "number.reversed": lambda b: N(3, 1),
    "number.step": lambda b: N(0, 1, step="0.3"),
    "number.grid": lambda b: N(0, 10**9),
    "number.measure": lambda b: N(0, 1, measure=b.cell + "x" * 40),
    "number.codes": lambda b: N(0, 1, codes=[*range(99)]),
    "number.missing_outside": lambda b: N(0, 1, missing=5),
    "number.unreadable": lambda b: N("many", 1),
    "number.ambiguous": lambda b: read_typed("25.000", "n"),
    "category.few": lambda b: C([]),
    "category.many": lambda b: C([str(one) for one in range(10**6 + 1)]),
    "category.blank": lambda b: C(["a", " "]),
    "category.twice": lambda b: C(["a", "A "]),
    "category.long": lambda b: C(["a" * 201]),
    "category.signs": lambda b: b.add(b.frame(a=[b.cell]), {"a": C(["x\u202ey"])}),
    "category.closed_unknown": lambda b: C(["a"], unknown=""),
    "items.many": lambda b: S(["a"]),
    "items.blank": lambda b: S(["a", ""]),
    "items.separator": lambda b: S(["a", "b"], separator=""),
    "items.inside": lambda b: S(["a|b", "c"]),
    "items.at_most": lambda b: S(["a", "b"], at_most=9),
    "date.unreadable": lambda b: dp.Date("soon", "2000-01-01"),
    "date.reversed": lambda b: dp.Date("2000-01-01", "1990-01-01"),
    "date.order": lambda b: dp.Date("1990-01-01", "2000-01-01", "dym"),
    "dialect.unreadable": lambda b: Dialect.from_json({"x": 1}),
    "dialect.separator": lambda b: Dialect(separator="ab"),
    "dialect.quote": lambda b: Dialect(quote="`"),
    "dialect.decimal": lambda b: Dialect(decimal="x"),
    "dialect.thousands": lambda b: Dialect(thousands="."),
    "dialect.encoding": lambda b: Dialect(encoding="ebcdic"),
    "dialect.line_breaks": lambda b: Dialect(line_breaks=1),  # type: ignore[arg-type]
    "table.practice": lambda b: b.stage.workspace.table("town").revise(schema()),
    # On the Data page.
    "data.failed": acts.task,
    "data.file.large": lambda b: uploads.keep(io.BytesIO(b.cell.encode()), 99, b.folder, 9),
    "data.list.large": lambda b: columns.read_list(b"x" * (columns.LARGEST + 1)),
    "data.list.encoding": lambda b: columns.read_list(b.cell.encode() + b"\0"),
    "data.list.many": lambda b: columns.read_list("\n".join(map(str, range(100_001))).encode()),
    "data.list.few": lambda b: columns.read_list(b"\n"),
    "data.list.long": lambda b: acts.card(b, kind="list", listed="\n".join(map(str, range(10_000)))),
    "data.list.not_public": lambda b: acts.card(b, kind="list", brought=("a", "b"), public=False),
    "data.card.days_missing": lambda b: acts.card(b, kind="date"),
    "data.card.order_missing": lambda b: acts.card(b, kind="date", first="1990-01-01", last="1991-01-01", order=None),
    "data.card.kind_missing": lambda b: acts.card(b, kind=None),
    "data.card.items_spelled": lambda b: acts.card(b, kind="items", listed="a = A, b"),
    "data.card.goes_to_missing": lambda b: acts.card(b, kind="list", listed="a\nb", closed=True, goes_to="c"),
    "data.cards.all_unknown": lambda b: columns.settled(acts.draft(b, kind="unknown")),
    "data.cards.pending": lambda b: draft.schema(acts.guessed()),
    "data.cards.none": lambda b: columns.settled(acts.draft(b, kind="out")),
    "data.codebook.form": lambda b: columns.read_codebook(b.cell, ["far"]),
    "data.codebook.long": lambda b: columns.read_codebook(b.cell + "x" * (columns.LONGEST + 1), ["far"]),
    "data.cards.mend": lambda b: columns.settled(acts.draft(b, kind="date")),
    "data.care.missing": lambda b: draft.budget(draft.Draft()),
    "data.relation.missing": lambda b: draft.relation(draft.Draft()),
    "data.change.same": lambda b: change._changed(acts.same(b), b.table),
    # A question.
    "query.unknown": lambda b: b.ask("guess"),
    "query.parameter": lambda b: b.ask("count", colour="red"),
    "query.missing": lambda b: b.ask("median"),
    "query.noise": lambda b: b.ask("count", by="home", noise="loud"),
    "query.switch": lambda b: b.ask("median", column="pay", with_range="perhaps"),
    "query.other_table": lambda b: b.table.ask(b.people.query("count", by="home", epsilon="0.1")),
    "epsilon.missing": lambda b: read_epsilon(""),
    "epsilon.positive": lambda b: b.ask("count", by="home", epsilon="0"),
    "epsilon.tiny": lambda b: b.ask("count", by="home", epsilon="0.0000001"),
    "epsilon.huge": lambda b: b.ask("count", by="home", epsilon="1000"),
    "beta.range": lambda b: b.ask("count", by="home", beta="2"),
    "share.range": lambda b: b.ask("quantile", column="pay", share="7"),
    "share.many_by_group": lambda b: b.ask(
        "quantile", column="pay", share=[f"0.{place}" for place in range(11, 31)], by={"column": "age", "step": 1}
    ),
    "top.how_many": lambda b: b.ask("top_item", column="home", how_many=99),
    "bins.category": lambda b: b.ask("histogram", column="home", bins=3),
    "bins.rising": lambda b: b.ask("histogram", column="far", bins=[5, 2]),
    "bins.outside": lambda b: b.ask("histogram", column="far", bins=[-5, 2]),
    "bins.many": lambda b: b.ask("histogram", column="far", bins=0),
    "crosstab.columns": lambda b: b.ask("crosstab", columns=["home"]),
    "crosstab.cells": lambda b: acts.many_cells(b).query("crosstab", columns=["a", "b"], epsilon="0.1"),
    "sum.overflow": lambda b: acts.huge(b).query("sum", column="a", epsilon="0.1"),
    "variance.overflow": lambda b: b.add(b.frame(a=[b.digits]), {"a": N(0, 10**6)}).query(
        "variance", column="a", epsilon="0.1"
    ),
    "count.public": lambda b: b.ask("count"),
    "column.unknown": lambda b: b.ask("median", column="nobody"),
    "column.wrong_kind": lambda b: b.ask("median", column="home"),
    "items.size_needed": lambda b: b.add(b.frame(a=[b.cell]), {"a": S(["x", "y"])}).query(
        "histogram", column="a", epsilon="0.1"
    ),
    "predicate.unreadable": lambda b: b.ask("count", where=[[7]]),
    "predicate.op": lambda b: b.ask("count", where=[["home", ">=", "a"]]),
    "predicate.value": lambda b: b.ask("count", where=[["home", "in", ["nobody"]]]),
    "predicate.empty": lambda b: b.ask("count", where=[["home", "in", []]]),
    "predicate.deep": lambda b: b.ask("count", where=[["any", [["any", [["far", ">", 1]]]]]]),
    "predicate.has_many": lambda b: b.add(b.frame(a=[b.cell]), {"a": S([str(one) for one in range(99)])}).query(
        "count", where=[["a", "has", [str(one) for one in range(99)]]], epsilon="0.1"
    ),
    "delta.missing": lambda b: read_delta(""),
    "delta.range": lambda b: b.ask("find_declarations", lists=["note"], delta="2"),
    # Publishing.
    "query.relation": lambda b: b.stage.tables[1].query("publish_table", columns=["home"], epsilon="0.1"),
    "query.several": lambda b: b.people.query("publish_table", columns=["home"], epsilon="0.1"),
    "publish.columns": lambda b: b.ask("publish_table", columns=[]),
    "publish.kind": lambda b: b.ask("publish_category", columns=["likes"]),
    "publish.items": lambda b: acts.other_columns(b, "publish_set", likes=dp.ItemSet(list(map(str, range(63))))),
    "publish.product": lambda b: acts.other_columns(b, "publish_row", far=dp.Number(0, 10**6), pay=dp.Number(0, 10**6)),
    "publish.digits": lambda b: acts.other_columns(b, "publish_number", far=dp.Number(10**20, 10**20 + 5)),
    "publish.grid": lambda b: b.ask("publish_number", columns=["far"], grid="0"),
    "publish.everyone": lambda b: replace(b.ask("publish_number", columns=["far"]), by="home"),
    "publish.large": acts.of_a_thousand_million,
    "publish.changed": acts.changed_file,
    "publish.fine": lambda b: acts.published(b, "pay").quantile("pay", Fraction(1, 2)),
    "publish.no_list": lambda b: acts.published(b, "far").counts("far"),
    "publish.no_rows": lambda b: acts.published(b, "home").combinations(),
    "publish.no_number": lambda b: acts.published(b, "home").mean("home"),
    "publish.unknown": lambda b: b.table.published(b.table.ask(b.ask("count", by="home"))),
    "delta.row": lambda b: b.ask("publish_number", columns=["far"], delta="1"),
    # Messages without a curator.
    "shuffle.delta": lambda b: b.ask("shuffle_histogram", column="home", delta="0"),
    "shuffle.few": lambda b: b.ask("shuffle_histogram", column="home", delta="1e-8", epsilon="0.01"),
    "shuffle.never": lambda b: b.ask("shuffle_histogram", column="home", delta="1e-8", epsilon="0.0001"),
    "shuffle.lecture": lambda b: b.ask("shuffle_histogram", column="home", delta="1e-8", calibration="lecture"),
    "shuffle.calibration": lambda b: b.ask("shuffle_histogram", column="home", delta="1e-8", calibration="loose"),
    "shuffle.solution": lambda b: b.ask("shuffle_histogram", column="home", delta="1e-8", solution="third"),
    "shuffle.large": lambda b: replace(
        b.ask("local_count", where=[["far", ">", 1]]), facts=replace(b.table.facts, about=10**9)
    ),
    "shuffle.messages": lambda b: catalogue["shuffle_histogram"].build(
        replace(b.add(b.frame(a=[b.cell]), {"a": C([str(one) for one in range(99)])}).facts, about=10**7),
        {"column": "a", "delta": "0.5", "epsilon": "1"},
    ),
    # Curves.
    "density.columns": lambda b: b.ask("density", columns=["far", "far"]),
    "density.bandwidth": lambda b: b.ask("density", columns=["far"], bandwidth="0"),
    "density.bandwidths": lambda b: b.ask("density", columns=["far"], bandwidth=["1", "2"]),
    "density.narrow": lambda b: b.ask("density", columns=["far"], bandwidth="1e-9"),
    "density.points": lambda b: b.ask("density", columns=["far"], resolution=1),
    "density.sample_many": lambda b: sample(b.ask("density", columns=["far"], resolution=2), {}, 0),
    "density.sample_none": lambda b: sample(
        one := b.ask("density", columns=["far"], resolution=2), dict.fromkeys(one.labels(), -1.0), 5
    ),
    "curve.points": lambda b: b.ask("cdf", column="far", points="0"),
    # Synthetic tables.
    "synthetic.columns": lambda b: b.ask("small_database", columns=[]),
    "synthetic.cells": lambda b: catalogue["small_database"].build(
        replace(b.table.facts, schema=dp.Schema({name: C([str(one) for one in range(120)]) for name in "ab"})),
        {"columns": ["a", "b"], "epsilon": "1"},
    ),
    "synthetic.queries": lambda b: b.ask("small_database", columns=["home"], queries=[[]]),
    "synthetic.condition": lambda b: b.ask("small_database", columns=["home"], queries=[[["far", ">", 1]]]),
    "synthetic.whole": lambda b: b.ask("small_database", columns=["home"], size="0"),
    "synthetic.large": lambda b: b.ask("small_database", columns=["home"], size="900"),
    "synthetic.unknown": lambda b: b.table.synthetic(b.table.ask(b.ask("count", by="home"))),
    # Training.
    "train.features": lambda b: b.train(features=[1]),
    "train.features_twice": lambda b: b.train(features=["age", "age"]),
    "train.feature_kind": lambda b: b.train(features=["likes"]),
    "train.feature_one": lambda b: b.add(b.frame(a=[b.cell], n=[b.digits]), {"a": C(["one"]), "n": N(0, 9)}).query(
        "train_linear", target="n", features=["a"], epsilon="0.1"
    ),
    "train.target_feature": lambda b: b.train(features=["far"]),
    "train.target_one": lambda b: b.add(b.frame(a=[b.cell], n=[b.digits]), {"a": C(["one"]), "n": N(0, 9)}).query(
        "train_logistic", target="a", features=["n"], epsilon="0.1"
    ),
    "train.sides": lambda b: b.ask("train_logistic", target="home", features=["age"], positive=["a"], negative=["a"]),
    "train.wide": lambda b: b.add(
        b.frame(a=[b.cell], n=[b.digits]), {"a": C([str(one) for one in range(300)]), "n": N(0, 9)}
    ).query("train_linear", target="n", features=["a"], epsilon="0.1"),
    "train.few": lambda b: b.add(b.frame(a=[b.cell], n=[b.digits]), {"a": C(["x", "y"]), "n": N(0, 9)}).query(
        "train_linear", target="n", features=["a"], epsilon="0.1"
    ),
    "train.names": lambda b: b.add(
        b.frame(**{"a": [b.cell] * 9, "a = x": [b.digits] * 9, "n": [b.digits] * 9}),
        {"a": C(["x", "y"]), "a = x": N(0, 9), "n": N(0, 9)},
    ).query("train_linear", target="n", features=["a", "a = x"], epsilon="0.1"),
    "train.steps": lambda b: b.train(steps=0),
    "train.lattice": lambda b: b.train(lattice=99),
    "train.rate": lambda b: b.train(rate=0),
    "train.radius": lambda b: b.train(radius="1e9"),
    "train.clip": lambda b: b.train(clip=-1),
    "train.coarse": lambda b: b.train(clip="0.5", lattice=1),
    "train.calibration": lambda b: b.train(calibration="loud"),
    "train.region": lambda b: b.train(region="cube"),
    "train.around": lambda b: b.train(region="around", calibration="coordinate"),
    "train.iterate": lambda b: b.train(iterate="first"),
    "train.no_delta": lambda b: b.small("pure", "1", "0").training_for(
        "train_linear", Fraction(1, 2), target="far", features=["age"]
    ),
    "train.no_room": lambda b: b.table.training_for(
        "train_linear", Fraction(1, 10**18), target="far", features=["age"]
    ),
    "train.model": lambda b: model_from_json({"weights": b.cell}),
    "check_model.model": lambda b: b.check({"kind": "linear"}),
    "check_model.other": lambda b: b.check(
        MODEL | {"target": ["far", {"kind": "number", "lower": "0", "upper": "9", "step": "1"}]}
    ),
    "check_model.weights": lambda b: b.check(MODEL | {"weights": [0.5, 0]}),
    "check_model.sides": lambda b: b.check(
        MODEL | {"target": ["home", schema()["home"].as_json()], "kind": "logistic", "yes": [0], "no": [9]}
    ),
    "check_model.parts": lambda b: b.check(MODEL, parts=0),
    "check_model.most_error": lambda b: b.check(MODEL, most_error="11"),
    "check_model.error_steps": lambda b: b.check(MODEL, error_steps="3"),
    "check_model.linear_only": lambda b: b.check(
        MODEL | {"target": ["home", schema()["home"].as_json()], "kind": "logistic", "yes": [0], "no": [1]},
        most_error="1",
    ),
    "budget.exceeded": lambda b: acts.refused(b, b.small().query("median", column="pay", epsilon="1"), b.small()),
    "budget.exceeded_delta": lambda b: acts.refused(
        b, b.small().query("find_declarations", lists=["note"], epsilon="0.01", delta="1e-3"), b.small()
    ),
    "budget.needs_delta": lambda b: acts.gaussian(b),
    "request.id": lambda b: b.table.ask(b.ask("count", by="home"), "x" * 999),
    "request.reused": lambda b: [
        b.table.ask(b.ask("count", by="home", epsilon=one), "twice") for one in ("0.1", "0.2")
    ],
    "request.meanwhile": lambda b: [b.table.ask(b.ask("count", by="home", epsilon="0.1"), seen=0) for _ in range(2)],
    "request.settled": acts.settled,
    "request.unknown": lambda b: b.stage.workspace.ledger.answer("nobody", {}),
    "release.failed": lambda b: acts.failing(b, RuntimeError(f"Conversion Error: {b.cell} {b.digits}")),
    "release.not_started": acts.not_started,
    "release.stopped": acts.before_its_turn,
    "release.dropped": acts.dropped,
    "release.interrupted": acts.interrupted,
    "release.waiting": acts.waiting,
    "engine.unreadable": lambda b: acts.damaged_table(
        b, "raw.parquet", lambda t: t.revise(dp.Schema({"home": C(["a"])}))
    ),
    "table.damaged": lambda b: acts.damaged_table(
        b, "coded-1.parquet", lambda t: t.ask(t.query("mean", column="far", epsilon="0.1"))
    ),
    "table.closed": lambda b: (b.stage.workspace.seal(b.small("shut").name), b.small("shut").revise(schema())),
    "table.sealed": lambda b: acts.closed(b, "seal"),
    "table.forgotten": lambda b: acts.closed(b, "forget"),
    "table.revised": acts.revised,
    # Plans and sessions.
    "plan.empty": lambda b: b.table.submit_plan([], "p"),
    "plan.long": lambda b: b.table.submit_plan([b.ask("count", by="home")] * 999, "p"),
    "plan.keep_range": lambda b: b.table.planner(Fraction(2)),
    "plan.exceeded": lambda b: acts.plan(b),
    "session.ask_everyone": lambda b: b.session().ask({"share": []}, "x"),
    "session.ask_unknown": lambda b: b.session().ask({"guess": 1}, "x"),
    "session.calibration": lambda b: b.ask("adaptive_session", questions=1, calibration="loud"),
    "session.columns": lambda b: b.table.session_over(["far"], 3, Fraction(1, 10)),
    "session.columns_small": lambda b: b.small("pure", "1", "0").session_over(["far", "home"], 3, Fraction(1, 10)),
    "session.unchecked": acts.declared_anew,
    "session.valueless": acts.valueless,
    "session.padded": acts.padded,
    "session.delta_unused": lambda b: b.ask("adaptive_session", questions=1, delta="1e-6"),
    "session.ended": lambda b: acts.ended(b),
    "session.no_delta": lambda b: b.small("pure", "1", "0").session_for(3, Fraction(1, 2), "gaussian"),
    "session.no_room": lambda b: b.table.session_for(1000, Fraction(1, 10**18)),
    "session.over": lambda b: acts.over(b),
    "session.rounded": lambda b: b.ask("adaptive_session", questions=1, rounded=1),
    "session.protected": acts.outlived,
    "session.questions": lambda b: b.ask("adaptive_session", questions=0),
    "session.step_alone": lambda b: b.table.ask(b.ask("adaptive_session", questions=1, ask={"average": "far"})),
    "session.step_lost": acts.lost_step,
    "session.step_reused": lambda b: acts.reused(b),
    "session.too_many": lambda b: b.table.open_session(b.ask("adaptive_session", questions=500, epsilon="1")),
    "session.too_small": lambda b: b.table.open_session(b.ask("adaptive_session", questions=1, epsilon="0.001")),
    "session.unknown": lambda b: b.table.session("nobody"),
    # What an owner does.
    "act.practice": lambda b: b.stage.workspace.seal("town"),
    "raise.upwards": lambda b: b.stage.workspace.raise_cap(b.table.name, "0.1"),
    "protect.less": lambda b: b.small().protect(dp.Unit.rows()),
    "protect.fewer": lambda b: b.small().protect(dp.Unit.column("note", 1)),
    "protect.absent": lambda b: b.small().protect(dp.Unit.column("nobody", 3)),
    "protect.same": lambda b: acts.protected(b).protect(dp.Unit.column("note", 3)),
    "protect.other_id": lambda b: acts.protected(b).protect(dp.Unit.column("home", 9)),
    "protect.exceeded": lambda b: acts.unprotected(b, "0.2", "0.1"),
    "protect.never": lambda b: acts.unprotected(b, "100", "20"),
    "protect.people_needed": lambda b: b.load(f"a,b\n6,{b.cell}\n", relation="add_remove", about_rows=3).protect(
        dp.Unit.column("b", 2)
    ),
    "forget.left": acts.forget_left,
    # The ledger and receipts.
    "ledger.locked": acts.locked,
    "ledger.damaged": acts.damaged,
    "workspace.newer": acts.of_version(VERSION + 1),
    "workspace.older": acts.of_version(VERSION - 1),
    "ledger.unwritable": acts.read_only,
    "ledger.full": lambda b: acts.full(b),
    "backup.exists": lambda b: backup.backup(b.stage.workspace.folder, b.folder),
    "backup.inside": lambda b: backup.backup(b.stage.workspace.folder, b.stage.workspace.folder / "copy"),
    "backup.no_folder": lambda b: backup.backup(b.stage.workspace.folder, b.folder / "nobody" / "copy"),
    "backup.nothing": lambda b: backup.home_of(["--home", str(b.folder)]),
    "arrive.taken": lambda b: arrive(b.stage.workspace.folder, b.folder / "all.zip"),
    "arrive.missing": lambda b: arrive(b.folder / "new", b.folder / f"{b.made}.zip"),
    "arrive.damaged": lambda b: arrive(b.folder / "new", acts.some_file(b)),
    "workspace.secret_missing": lambda b: acts.no_secret(b),
    "verify.large": lambda b: read_receipts(b"x" * (MOST_BYTES + 1), "r.json"),
    "verify.not_json": lambda b: read_receipts(b.cell.encode(), "r.json"),
    "verify.not_receipt": lambda b: read_receipts(json.dumps({"x": b.cell}).encode(), "r.json"),
    "verify.missing": lambda b: _bytes(b.folder / "nobody"),
    "verify.unreadable": lambda b: _bytes(b.folder),
    "verify.ledger_missing": lambda b: acts.copied(b.folder / "nobody.sqlite"),
    "verify.not_ledger": lambda b: acts.copy(b, b.cell.encode(), f"{b.made}.jsonl"),
    **(refusal_compared.CAUSES | refusal_grouped.CAUSES | refusal_looks.CAUSES | refusal_tables.CAUSES),
}
