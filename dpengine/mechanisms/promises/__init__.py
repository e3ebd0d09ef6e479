"""How accurate an answer will be, stated before it is drawn: one class for each kind of promise."""

from dpengine.mechanisms.promises.of_figures import NearAverage as NearAverage
from dpengine.mechanisms.promises.of_figures import NearBest as NearBest
from dpengine.mechanisms.promises.of_figures import Rank as Rank
from dpengine.mechanisms.promises.of_figures import Within as Within
from dpengine.mechanisms.promises.of_figures import WithinEach as WithinEach
from dpengine.mechanisms.promises.of_wholes import Band as Band
from dpengine.mechanisms.promises.of_wholes import Blurred as Blurred
from dpengine.mechanisms.promises.of_wholes import Excess as Excess
from dpengine.mechanisms.promises.promise import Goal as Goal
from dpengine.mechanisms.promises.promise import Promise as Promise
