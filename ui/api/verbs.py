"""The API's verbs, named like those of the Python interface. Addresses, input checks and the OpenAPI description all
come from the table `VERBS`. No verb returns rows, and no GET spends.

A `Visit` is a person's workspace, limited to their token. Every verb gets its table from the visit, so a table outside
the token is refused like one that does not exist, before anything else happens.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from dpengine.asking.answers import Answer, Job
from dpengine.asking.column_fit import declared_since
from dpengine.core.errors import AllowanceError, UnknownTable
from dpengine.core.types import Json, JsonObject
from dpengine.ledger.rows import read_request
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.query import AnyQuery
from dpengine.people.face import Face
from dpengine.released.look import Look
from dpengine.storage.samples import SAMPLES
from dpengine.storage.tokens import Token
from dpengine.table import Table
from ui.api import serialize

_LONGEST = 80
_MOST = 10_000


class Asked:
    """The question behind each request id, held until the ledger has that question."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()

    def note(self, person: str, request: str, table: str, digest: str) -> None:
        """Note the question of a request id. Refuses an id that another question has used."""
        with self._lock:
            if self._known.setdefault((person, request), (table, digest)) != (table, digest):
                raise AllowanceError("request.reused")
            while len(self._known) > _MOST:
                self._known.popitem(last=False)

    def drop(self, person: str, request: str) -> None:
        """Forget the question of a request id. The question was refused, so the id is free."""
        with self._lock:
            self._known.pop((person, request), None)

    def table_of(self, person: str, request: str) -> str | None:
        with self._lock:
            return self._known.get((person, request), (None,))[0]


@dataclass(frozen=True)
class Visit:
    face: Face
    token: Token
    asked: Asked

    @property
    def person(self) -> str:
        return self.token.person

    def table(self, name: object) -> Table:
        if not isinstance(name, str) or not self.token.covers(name):
            raise UnknownTable(name)
        return self.face.table(name)

    def tables(self) -> list[str]:
        """The person's tables that the token covers; samples last."""
        seen = [*(record.name for record in self.face.tables() if record.name not in SAMPLES), *SAMPLES]
        return [name for name in seen if self.token.covers(name)]

    def charged(self, request: str, table: str, digest: str) -> bool:
        """Was this question charged under this request id? Refuses the id if another question was charged under it."""
        entry = self.face.ledger.find(request)
        if entry is None:
            return False
        if (entry.charge.actor, entry.charge.table, entry.charge.claim.get("digest")) != (self.person, table, digest):
            raise AllowanceError("request.reused")
        return True

    def job(self, request: str) -> Job:
        """The person's job with this request id, on a table of the token. Refuses every other id as unknown."""
        job = self.face.job(request)
        table = self.asked.table_of(self.person, request)
        if table is None and (entry := self.face.ledger.find(request)) is not None:
            table = entry.charge.table
        if job.state == "unknown" or (self.token.tables and not (table and self.token.covers(table))):
            raise AllowanceError("request.unknown")
        return job


MOST_WAIT, USUAL_WAIT = 30, 10  # seconds
Given = JsonObject


@dataclass(frozen=True)
class Field:
    name: str
    kind: str  # string, object, number or boolean
    required: bool = True


TABLE = Field("table", "string")
KEY = Field("key", "string")
PARAMETERS = Field("parameters", "object")
TEXT = Field("text", "string")
REQUEST = Field("request", "string")
WAIT = Field("wait", "number", required=False)
ANYWAY = Field("anyway", "boolean", required=False)  # ask about the cells that fit, although a check doubts the column


@dataclass(frozen=True)
class Verb:
    """One verb of the API. `does` computes its answer. If `shows` is given, `does` only submits a job; the API waits
    for the job, and `shows` turns it into JSON."""

    method: str
    name: str
    does: Callable[[Visit, Given], Json]
    answer: str  # a schema in the OpenAPI description
    fields: tuple[Field, ...] = ()
    in_path: str = ""  # the parameter after the name in the address
    kind: str = "request"  # a rate of the limiter, besides that of all requests
    shows: Callable[[Visit, Job], JsonObject] | None = None

    @property
    def path(self) -> str:
        return f"{self.name}/{{{self.in_path}}}" if self.in_path else self.name


def read(verb: Verb, sent: JsonObject) -> Given:
    """The fields that a program sent to a verb, once each is known and of the right kind; else a refusal."""
    known = {field.name: field for field in verb.fields}
    if strange := sorted(sent.keys() - known.keys()):
        raise AllowanceError("door.unknown", field=strange[0][:60], fields=list(known))
    for name, field in known.items():
        if (name in sent or field.required) and not _is(field.kind, sent.get(name)):
            raise AllowanceError("door.field", field=name, kind=field.kind)
    return sent


def _is(kind: str, value: Json) -> bool:
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "boolean": bool}.get(kind, dict))


def _catalogue(visit: Visit, given: Given) -> Json:
    return {"questions": [serialize.question(kind) for kind in catalogue.values()]}


def _tables(visit: Visit, given: Given) -> Json:
    closed = visit.face.closed()
    return {"tables": [{"name": name, "closed": closed.get(name)} for name in visit.tables()]}


def _table(visit: Visit, given: Given) -> Json:
    table = visit.table(given["table"])
    return serialize.table(table.facts, table.practice, table.closed)


def _declaration(visit: Visit, given: Given) -> Json:
    """What is declared about the table, as JSON: the file that the table's page downloads and `Declaration.read`
    reads."""
    return visit.table(given["table"]).declaration().as_json()


def _meter(visit: Visit, given: Given) -> Json:
    yours, tables = visit.face.meter(visit.table(given["table"]).name)
    return {"yours": serialize.meter(yours), "table": serialize.meter(tables)}


def _question(visit: Visit, given: Given, key: str | None = None) -> tuple[Table, AnyQuery]:
    table = visit.table(given["table"])
    return table, table.query(key or given["key"], **given["parameters"])


def _preview(visit: Visit, given: Given) -> Json:
    table, query = _question(visit, given)
    return serialize.preview(query, table.preview(query, checked=True))


def _read(visit: Visit, given: Given) -> Json:
    """What a typed text means, as a question. A text that is not clear is refused, with its possible meanings."""
    return serialize.asked(visit.table(given["table"]).read(given["text"]))


def _recall(visit: Visit, given: Given) -> Json:
    table, query = _question(visit, given)
    return {"answers": [serialize.answer(answer, _notes(visit, answer)) for answer in table.recall(query)]}


def _job(visit: Visit, given: Given) -> Json:
    return shown(visit, visit.job(given["request"]))


def _notes(visit: Visit, answer: Answer) -> list[str]:
    """The notes that a page shows beside this answer: doubts of paid checks, and what was declared anew since. Empty if
    the table is gone."""
    try:
        table = visit.table(answer.receipt["table"])
    except AllowanceError:  # it is gone
        return []
    return [*table.fits().notes(answer.query), *declared_since(answer.receipt["claim"], table.facts)]


def shown(visit: Visit, job: Job) -> JsonObject:
    return serialize.job(job, [] if job.answer is None else _notes(visit, job.answer))


def _ask(visit: Visit, given: Given, key: str | None = None) -> Json:
    """Submit the question, once per request id, with checks first as on the pages; returns the request id. The question
    is charged and drawn in the background."""
    request = read_request(given["request"])
    table, query = _question(visit, given, key)
    visit.asked.note(visit.person, request, table.name, query.digest())
    try:
        if not visit.charged(request, table.name, query.digest()):
            table.submit(query, request, checked=True, anyway=bool(given.get("anyway")))
    except AllowanceError:
        visit.asked.drop(visit.person, request)
        raise
    return {"request": request}


def _looked(visit: Visit, job: Job) -> JsonObject:
    released = job.answer.value if job.answer is not None else None
    return shown(visit, job) | {"look": serialize.look(released) if isinstance(released, Look) else None}


VERBS = (
    Verb("GET", "catalogue", _catalogue, "Catalogue"),
    Verb("GET", "tables", _tables, "Tables"),
    Verb("GET", "table", _table, "Table", in_path="table"),
    Verb("GET", "declaration", _declaration, "Declaration", in_path="table"),
    Verb("GET", "meter", _meter, "Meters", in_path="table"),
    Verb("GET", "job", _job, "Job", in_path="request"),
    Verb("POST", "preview", _preview, "Preview", (TABLE, KEY, PARAMETERS), kind="preview"),
    Verb("POST", "read", _read, "Read", (TABLE, TEXT), kind="preview"),
    Verb("POST", "recall", _recall, "Answers", (TABLE, KEY, PARAMETERS), kind="preview"),
    Verb("POST", "ask", _ask, "Job", (TABLE, KEY, PARAMETERS, REQUEST, WAIT, ANYWAY), kind="preview", shows=shown),
    Verb(
        "POST",
        "overview",
        partial(_ask, key=Overview.card.key),
        "Looked",
        (TABLE, PARAMETERS, REQUEST, WAIT),
        kind="preview",
        shows=_looked,
    ),
)
BY_NAME = {verb.name: verb for verb in VERBS}


def find(inner: str) -> tuple[Verb | None, Given]:
    """The verb of an address below /api/v1, and the parameter in the address; None and nothing if there is no such
    verb."""
    name, _, rest = inner.partition("/")
    verb = BY_NAME.get(name)
    if verb is None or bool(rest) != bool(verb.in_path):
        return None, {}
    return verb, {verb.in_path: rest} if rest else {}
