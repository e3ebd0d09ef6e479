"""Ask a served Allowance from a notebook or a script. This one file needs nothing but Python, and may be copied.

    from dpengine.client import Client

    clinic = Client("https://data.example.org", token).table("clinic")
    print(clinic.preview("median", column="age", epsilon="0.1").share)
    answer = clinic.ask("median", column="age", epsilon="0.1")
    print(answer.value, answer.interval, clinic.meter().used)

The names are those of the Python interface. Every question has a request id: if the connection breaks it is sent again
under the same id, and is charged once. Every refusal is one exception, with its code and sentence.
"""

from __future__ import annotations

import http.client
import json
import re
import secrets
import time
import typing
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

Json: typing.TypeAlias = typing.Any  # whatever JSON holds
_HERE = ("localhost", "127.0.0.1", "::1")
_TRIES = 6  # of one call, while the connection breaks or the server asks to wait
_LONGEST_PAUSE = 30.0
_BROKEN = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)
_EXACT = re.compile(r"-?[0-9]+(\.[0-9]+|/[0-9]+)?")
_AGAIN = (429, 502, 503, 504)


class RefusedByServer(Exception):
    """A refusal by the server: `code` names the reason, `sentence` says what to do next, `status` is the HTTP status
    (0: no answer came)."""

    def __init__(self, code: str, sentence: str, status: int = 0, wait: float | None = None) -> None:
        super().__init__(f"{sentence} ({code})")
        self.code, self.sentence, self.status = code, sentence, status
        self.wait = wait  # seconds, if the server gives them
        self.ways: list[Json] = []  # the ways out, if a check doubts a column
        self.readings: list[Json] = []  # what a typed text may mean, if it is not clear


class Reply(dict[str, Json]):
    """What the server answered, as a dict. Each entry is also an attribute, as in `answer.value`. Exact numbers are
    Fractions."""

    def __getattr__(self, name: str) -> Json:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, so that the token is only ever sent to the server that it belongs to."""

    def redirect_request(self, *given: Json, **named: Json) -> None:
        return None


@dataclass(frozen=True)
class Client:
    url: str
    token: str = field(repr=False)
    language: str = "en"
    patience: float = 3600.0  # seconds to wait for one answer
    timeout: float = 60.0  # seconds to wait for one reply

    def __post_init__(self) -> None:
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _HERE):
            raise ValueError("the address must begin with https:// (http:// for this machine alone)")

    def table(self, name: str) -> ClientTable:
        return ClientTable(self, name)

    def tables(self) -> list[str]:
        return [table["name"] for table in self.call("GET", "tables")["tables"]]

    def catalogue(self) -> dict[str, Reply]:
        """All questions with their parameters, by key."""
        return {question["key"]: Reply(question) for question in self.call("GET", "catalogue")["questions"]}

    def job(self, request_id: str) -> Reply:
        """The state of a question, with its answer once it has one."""
        return _job(self.call("GET", f"job/{_quoted(request_id)}"))

    def call(self, method: str, path: str, body: Mapping[str, Json] | None = None) -> Reply:
        """One call of the API. The call is sent again if the connection breaks; nothing is charged twice."""
        pause = 0.5
        for left in reversed(range(_TRIES)):
            try:
                return self._once(method, path, body)
            except RefusedByServer as refused:
                if refused.status not in (0, *_AGAIN) or not left:
                    raise
                time.sleep(min(refused.wait or pause, _LONGEST_PAUSE))
            pause *= 2
        raise AssertionError

    def _once(self, method: str, path: str, body: Mapping[str, Json] | None) -> Reply:
        headers = {"Authorization": f"Bearer {self.token}", "Accept-Language": self.language}
        content = None if body is None else json.dumps(body, default=_written).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        address = f"{self.url.rstrip('/')}/api/v1/{path}"
        request = urllib.request.Request(address, content, headers, method=method)
        try:
            with urllib.request.build_opener(_StayHere).open(request, timeout=self.timeout) as reply:
                return Reply(json.load(reply))
        except urllib.error.HTTPError as reply:
            with reply:
                raise _refused(reply) from None
        except (*_BROKEN, ValueError) as broken:
            raise RefusedByServer("client.connection", f"The server did not answer: {type(broken).__name__}.") from None


@dataclass(frozen=True)
class ClientTable:
    client: Client
    name: str

    def preview(self, key: str, /, **parameters: Json) -> Reply:
        """The price and accuracy of a question. Spends nothing."""
        return _exact(self.client.call("POST", "preview", self._question(key, parameters)))

    def read(self, text: str) -> Reply:
        """The question that a text means, such as “median age of smokers”, as `key`, `parameters` and `sentence`. To
        ask this question, call `ask(read.key, **read.parameters)`. An unclear text is refused, with `readings`. Spends
        nothing."""
        return self.client.call("POST", "read", {"table": self.name, "text": text})

    def recall(self, key: str, /, **parameters: Json) -> list[Reply]:
        """The paid answers to exactly this question, oldest first. Spends nothing."""
        answers = self.client.call("POST", "recall", self._question(key, parameters))["answers"]
        return [Reply(answer) for answer in answers]

    def ask(self, key: str, /, request_id: str | None = None, anyway: bool = False, **parameters: Json) -> Reply:
        """Ask and wait for the answer. The same request id always has the same answer; without a request id the answer
        is a new, paid draw. Unchecked columns are checked first. If a check doubts a column, the question is refused
        with the possible fixes in `ways`; with `anyway` the question is then asked only of the cells that fit."""
        question = self._question(key, parameters) | ({"anyway": True} if anyway else {})
        return Reply(self._asked("ask", question, request_id)["answer"])

    def overview(self, request_id: str | None = None, **parameters: Json) -> Reply:
        """A first look at all columns: the answer, and in `look` each column's bars with their ranges."""
        asked = self._asked("overview", {"table": self.name, "parameters": parameters}, request_id)
        return Reply(asked["answer"] | {"look": asked["look"]})

    def meter(self) -> Reply:
        """How much of the table's allowance is used; `yours`: how much of one's own share."""
        reply = self.client.call("GET", f"meter/{_quoted(self.name)}")
        return Reply(_exact(reply["table"]) | {"yours": _exact(reply["yours"])})

    def declaration(self) -> Reply:
        """The table's declaration, to be saved as a JSON file and used for next year's table."""
        return self.client.call("GET", f"declaration/{_quoted(self.name)}")

    def facts(self) -> Reply:
        return self.client.call("GET", f"table/{_quoted(self.name)}")

    def _question(self, key: str, parameters: Mapping[str, Json]) -> dict[str, Json]:
        return {"table": self.name, "key": key, "parameters": parameters}

    def _asked(self, verb: str, question: Mapping[str, Json], request_id: str | None) -> Reply:
        body = {**question, "request": request_id or secrets.token_hex(8)}
        deadline = time.monotonic() + self.client.patience
        job = _job(self.client.call("POST", verb, body))
        while job["state"] in ("queued", "running"):
            if time.monotonic() > deadline:
                sentence = f"It is not answered yet; ask for job({body['request']!r}) later."
                raise RefusedByServer("client.waiting", sentence, 202)
            job = _job(self.client.call("POST", verb, body))  # waits there; the id makes it the same question
        return job


def _job(job: Reply) -> Reply:
    if job.get("error"):
        refused = RefusedByServer(job["error"]["code"], job["error"]["sentence"], 200)
        refused.ways = job["error"].get("ways", [])
        raise refused
    return Reply(job | {"answer": None if job.get("answer") is None else Reply(job["answer"])})


def _exact(fields: Mapping[str, Json]) -> Reply:
    return Reply({name: _number(name, value) for name, value in fields.items()})


def _number(name: str, value: Json) -> Json:
    if name == "rules" and isinstance(value, dict):
        return _exact(value)
    return Fraction(value) if isinstance(value, str) and _EXACT.fullmatch(value) else value


def _written(value: Json) -> str:
    """A value as text; an exact number in a form that the server reads exactly."""
    if isinstance(value, Fraction):
        near = Decimal(value.numerator) / Decimal(value.denominator)
        return f"{near:f}" if Fraction(near) == value else str(value)
    return str(value)


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def _refused(reply: urllib.error.HTTPError) -> RefusedByServer:
    after = reply.headers.get("Retry-After", "")
    wait = float(after) if after.isdecimal() else None
    try:
        body = json.load(reply)
        refused = RefusedByServer(str(body["code"]), str(body["sentence"]), reply.code, wait)
        refused.readings = list(body.get("readings", []))
        return refused
    except (ValueError, LookupError, TypeError, OSError):
        sentence = f"The server answered {reply.code} without a sentence."
        return RefusedByServer("client.answer", sentence, reply.code, wait)
