"""Ask a served Allowance from a notebook or a script: one file, which needs nothing but Python itself, and may be
copied beside a script.

    from dpengine.client import Client

    clinic = Client("https://data.example.org", token).table("clinic")
    print(clinic.preview("median", column="age", epsilon="0.1").share)
    answer = clinic.ask("median", column="age", epsilon="0.1")
    print(answer.value, answer.interval, clinic.meter().used)

The names are those of the Python face. A question is asked under a request id of its own: where the connection breaks
it is sent again under the same id, and is charged once. Whatever is refused is one exception, with its code and
sentence.
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
_TRIES = 6  # of one call, while the connection breaks or the server says to wait
_LONGEST_PAUSE = 30.0
_BROKEN = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)
_EXACT = re.compile(r"-?[0-9]+(\.[0-9]+|/[0-9]+)?")
_AGAIN = (429, 502, 503, 504)


class RefusedByServer(Exception):
    """`code` names why, `sentence` says what to do next, `status` is the HTTP status (0: no answer came)."""

    def __init__(self, code: str, sentence: str, status: int = 0, wait: float | None = None) -> None:
        super().__init__(f"{sentence} ({code})")
        self.code, self.sentence, self.status = code, sentence, status
        self.wait = wait  # seconds, where the server says how long
        self.ways: list[Json] = []  # out of a refusal because a check doubts a column


class Told(dict[str, Json]):
    """What the server said, also by attribute: `answer.value`, `meter.used`. Exact numbers of previews and meters are
    Fractions."""

    def __getattr__(self, name: str) -> Json:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class _StayHere(urllib.request.HTTPRedirectHandler):
    """A token is sent to the address it is for and to no other, so nothing is followed."""

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
        return [one["name"] for one in self.call("GET", "tables")["tables"]]

    def catalogue(self) -> dict[str, Told]:
        """The questions by their keys, with their parameters."""
        return {one["key"]: Told(one) for one in self.call("GET", "catalogue")["questions"]}

    def job(self, request_id: str) -> Told:
        """Where a question stands, with its answer once there is one."""
        return _job(self.call("GET", f"job/{_quoted(request_id)}"))

    def call(self, method: str, path: str, body: Mapping[str, Json] | None = None) -> Told:
        """One call of the API. It may be sent several times: nothing is charged twice."""
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

    def _once(self, method: str, path: str, body: Mapping[str, Json] | None) -> Told:
        headers = {"Authorization": f"Bearer {self.token}", "Accept-Language": self.language}
        content = None if body is None else json.dumps(body, default=_written).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        address = f"{self.url.rstrip('/')}/api/v1/{path}"
        request = urllib.request.Request(address, content, headers, method=method)
        try:
            with urllib.request.build_opener(_StayHere).open(request, timeout=self.timeout) as reply:
                return Told(json.load(reply))
        except urllib.error.HTTPError as reply:
            with reply:
                raise _refused(reply) from None
        except (*_BROKEN, ValueError) as broken:
            raise RefusedByServer("client.connection", f"The server did not answer: {type(broken).__name__}.") from None


@dataclass(frozen=True)
class ClientTable:
    client: Client
    name: str

    def preview(self, key: str, /, **parameters: Json) -> Told:
        """What a question would take and how accurate it would be. Spends nothing."""
        return _exact(self.client.call("POST", "preview", self._question(key, parameters)))

    def recall(self, key: str, /, **parameters: Json) -> list[Told]:
        """The paid answers to exactly this question, oldest first. Spends nothing."""
        return [Told(one) for one in self.client.call("POST", "recall", self._question(key, parameters))["answers"]]

    def ask(self, key: str, /, request_id: str | None = None, anyway: bool = False, **parameters: Json) -> Told:
        """Ask and wait for the answer. The same request id is the same answer; without one it is a new, paid draw.
        Columns that nobody has checked are checked first; where a check doubts one, the question is refused, with the
        ways out in `ways`, and with `anyway` it is asked of the cells that fit."""
        question = self._question(key, parameters) | ({"anyway": True} if anyway else {})
        return Told(self._asked("ask", question, request_id)["answer"])

    def overview(self, request_id: str | None = None, **parameters: Json) -> Told:
        """A first look at all columns: the answer, and in `look` the bars of each column with their ranges."""
        asked = self._asked("overview", {"table": self.name, "parameters": parameters}, request_id)
        return Told(asked["answer"] | {"look": asked["look"]})

    def meter(self) -> Told:
        """How much of the table's allowance is used; `yours` is the same for one's own share."""
        told = self.client.call("GET", f"meter/{_quoted(self.name)}")
        return Told(_exact(told["table"]) | {"yours": _exact(told["yours"])})

    def facts(self) -> Told:
        """What is declared about the table, which is public."""
        return self.client.call("GET", f"table/{_quoted(self.name)}")

    def _question(self, key: str, parameters: Mapping[str, Json]) -> dict[str, Json]:
        return {"table": self.name, "key": key, "parameters": parameters}

    def _asked(self, verb: str, question: Mapping[str, Json], request_id: str | None) -> Told:
        body = {**question, "request": request_id or secrets.token_hex(8)}
        deadline = time.monotonic() + self.client.patience
        job = _job(self.client.call("POST", verb, body))
        while job["state"] in ("queued", "running"):
            if time.monotonic() > deadline:
                sentence = f"It is not answered yet; ask for job({body['request']!r}) later."
                raise RefusedByServer("client.waiting", sentence, 202)
            job = _job(self.client.call("POST", verb, body))  # waits there; the id makes it the same question
        return job


def _job(told: Told) -> Told:
    if told.get("error"):
        refused = RefusedByServer(told["error"]["code"], told["error"]["sentence"], 200)
        refused.ways = told["error"].get("ways", [])
        raise refused
    return Told(told | {"answer": None if told.get("answer") is None else Told(told["answer"])})


def _exact(told: Mapping[str, Json]) -> Told:
    return Told({name: _number(name, one) for name, one in told.items()})


def _number(name: str, one: Json) -> Json:
    if name == "rules" and isinstance(one, dict):
        return _exact(one)
    return Fraction(one) if isinstance(one, str) and _EXACT.fullmatch(one) else one


def _written(one: Json) -> str:
    """Fractions and decimals as the server reads them, exactly."""
    if isinstance(one, Fraction):
        near = Decimal(one.numerator) / Decimal(one.denominator)
        return f"{near:f}" if Fraction(near) == one else str(one)
    return str(one)


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def _refused(reply: urllib.error.HTTPError) -> RefusedByServer:
    after = reply.headers.get("Retry-After", "")
    wait = float(after) if after.isdecimal() else None
    try:
        told = json.load(reply)
        return RefusedByServer(str(told["code"]), str(told["sentence"]), reply.code, wait)
    except (ValueError, LookupError, TypeError, OSError):
        sentence = f"The server answered {reply.code} without a sentence."
        return RefusedByServer("client.answer", sentence, reply.code, wait)
