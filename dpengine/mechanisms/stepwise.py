"""Questions in several steps: each step computes on the data at the point that the last draw led to."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpengine.core.types import Json, JsonObject
from dpengine.mechanisms.query import Progress, Query, Raw, Released, ReleaseTools, Statistic
from dpengine.noise.coins import Coins
from dpengine.statistics.need import AnyNeed

Reader = Callable[[AnyNeed], Any]  # computes a need on the data


@dataclass(frozen=True)
class Path:
    """The path of a training, in integers on a public lattice. It is public: the charge covers every point's noise."""

    steps: int  # done
    of: int
    weights: tuple[int, ...]  # the model
    points: tuple[tuple[int, tuple[int, ...]], ...]  # some of the iterates, each with its step

    @property
    def stopped(self) -> bool:
        return self.steps < self.of

    def as_json(self) -> JsonObject:
        points = [[step, list(point)] for step, point in self.points]
        return {"steps": self.steps, "of": self.of, "weights": list(self.weights), "points": points}

    @staticmethod
    def from_json(data: JsonObject) -> Path:
        points = tuple((step, tuple(point)) for step, point in data["points"])
        return Path(data["steps"], data["of"], tuple(data["weights"]), points)


@dataclass(frozen=True, kw_only=True)
class Stepwise(Query[Statistic, Raw]):
    """A question in steps, each of which computes a statistic from the draws so far and draws again. The whole loss is
    charged before step 1. If stopped early, its result is what was drawn so far. `need` and `draw` are of step 1."""

    @abstractmethod
    def descend(self, read: Reader, coins: Coins, progress: Progress, stopped: Callable[[], bool]) -> Path:
        """Take all steps, or those before `stopped` returned True."""

    @abstractmethod
    def ended(self, path: Path) -> Released: ...

    def first_statistic(self, read: Reader) -> None:
        """None: every step computes its own statistic."""

    def draw_body(self, value: Json, tools: ReleaseTools) -> JsonObject:
        path = self.descend(tools.read, tools.coins, tools.progress, tools.stopped)
        return self.ended(path).as_json() | {"path": path.as_json()}
