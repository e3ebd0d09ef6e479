"""Breaks the formula of each row of docs/sources.md in a copy of the repository, and expects the row's test to fail.

    python -m tests.broken_sources            all rows, about ten minutes
    python -m tests.broken_sources S1.7 S5.3  some

A row that occurs again among the overlooked lines is named with a mark for each time: S1.7, S1.7', S1.7''.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "build", "dist", "var", "__pycache__", ".*_cache")
BROKEN: dict[str, tuple[str, str, str]] = {  # by row: the file, a piece of it, and what stands there instead
    "S1.1": (
        "demos/lessons/median.py",
        "AFTER = (0, 0, 0, 0, 1, 1, 1)",
        "AFTER = (1, 0, 0, 1, 1, 1, 1)",
    ),
    "S1.2": (
        "dpengine/noise/coins.py",
        "self._under(height, size, rate * gap, shift)",
        "self._under(height, size, rate * gap * 2, shift)",
    ),
    "S1.3": (
        "dpengine/noise/tails.py",
        "return max(ceiling(ln_above(Fraction(candidates) / beta) / rate) - 1, 0)",
        "return max(ceiling(ln_above(Fraction(candidates) / beta) / rate) - 2, 0)",
    ),
    "S1.4": (
        "dpengine/mechanisms/choices/quantile.py",
        "high = -(-share.numerator * n // share.denominator)",
        "high = share.numerator * n // share.denominator",
    ),
    "S1.5": (
        "demos/lessons/dice.py",
        "return -max(0, half - min(sum(people[: face + 1]), sum(people[face:])))",
        "return -abs(sum(people[: face + 1]) - sum(people[face:]))",
    ),
    "S1.6": (
        "demos/lessons/film.py",
        "return min(2 * size, films)",
        "return min(size, films)",
    ),
    "S1.7": (
        "dpengine/mechanisms/synthetic/small_database.py",
        "return self.epsilon / (2 * self.sensitivity().bound)",
        "return self.epsilon / self.sensitivity().bound",
    ),
    "S1.8": (
        "dpengine/noise/place_choice.py",
        "high = (odd // (2 * many))[None, :] + layers[:, None] + 1",
        "high = (odd // (2 * many))[None, :] + layers[:, None]",
    ),
    "S2.1": (
        "dpengine/accountant/compositions.py",
        "return up(2 * history.squares) + _root_above",
        "return up(history.squares) + _root_above",
    ),
    "S2.2": (
        "dpengine/accountant/compositions.py",
        "_root_above(2 * history.squares * _ln_inverse_above(slack))",
        "_root_above(4 * history.squares * _ln_inverse_above(slack))",
    ),
    "S2.3": (
        "dpengine/accountant/compositions.py",
        "_root_above(2 * history.squares * _ln_inverse_above(slack))",
        "_root_above(history.squares * _ln_inverse_above(slack))",
    ),
    "S2.4": (
        "dpengine/accountant/compositions.py",
        "or epsilon > -2 * ln_below(delta):",
        ":",
    ),
    "S2.5": (
        "dpengine/mechanisms/session/adaptive_session.py",
        "return _gamma(self.epsilon, self.delta, self.questions)",
        "return 2 * _gamma(self.epsilon, self.delta, self.questions)",
    ),
    "S2.6": (
        "dpengine/planning/whatif.py",
        "return how_many_fit.holds(accounting, rule, query.asked_at(Fraction(grains, GRAIN)).loss(), questions)",
        'return how_many_fit.holds("basic", rule, query.asked_at(Fraction(grains, GRAIN)).loss(), questions)',
    ),
    "S2.7": (
        "dpengine/mechanisms/choices/noisy_argmax.py",
        "self.epsilon / (self.facts.sides * self.sensitivity().bound)",
        "self.epsilon / self.sensitivity().bound",
    ),
    "S2.8": (
        "dpengine/population/validity.py",
        "width = noise.alpha_at(missed) + 10 * epsilon if allowed else Fraction(1)",
        "width = noise.alpha_at(missed) + 5 * epsilon if allowed else Fraction(1)",
    ),
    "S2.9": (
        "demos/overfitting.py",
        "lambda sums: [float(noisy) for noisy in noise.draw(coins, sums)])",
        "lambda sums: [value / settings.people for value in sums])",
    ),
    "S3.1": (
        "dpengine/declared/schema.py",
        "        return Fraction(self.size)\n\n    def value",
        "        return Fraction(1)\n\n    def value",
    ),
    "S3.2": (
        "dpengine/planning/alternatives.py",
        "return Instead(mean, query.reach(name), mean.promise().amount / column.diameter)",
        "return Instead(mean, query.reach(name) / query.facts.about, mean.promise().amount / column.diameter)",
    ),
    "S3.3": (
        "demos/lessons/definition.py",
        "return self.least <= self.delta + NOTHING",
        "return True",
    ),
    "S3.4": (
        "demos/lessons/definition.py",
        "return self.least <= self.delta + NOTHING",
        "return self.least <= 2 * self.delta + NOTHING",
    ),
    "S3.5": (
        "dpengine/audit/exact.py",
        "!= sum((alone[place] for place in places), Counter[str]())",
        "is None",
    ),
    "S3.6": (
        "dpengine/noise/row_noise.py",
        "last = ceiling((steps - epsilon * scale) / 2) - 1",
        "last = ceiling((steps - epsilon * scale) / 2)",
    ),
    "S3.7": (
        "dpengine/noise/row_noise.py",
        "return (1 - self.delta) / (self.size - 1 + Fraction",
        "return (1 - self.delta) / (self.size + Fraction",
    ),
    "S3.8": (
        "dpengine/noise/row_noise.py",
        "return down((1 - delta) * m / (m + _power(epsilon)), _GRAIN)",
        "return down((1 - delta) * (m + 1) / (m + _power(epsilon)), _GRAIN)",
    ),
    "S3.9": (
        "demos/lessons/edges.py",
        "noise = Fraction(width, unit) / EPSILON",
        "noise = Fraction(width) / EPSILON",
    ),
    "S3.10": (
        "demos/thesis_curves.py",
        "thesis = math.sqrt(2 * math.log(2 / DELTA)) / epsilon",
        "thesis = math.sqrt(8 * math.log(2 / DELTA)) / epsilon",
    ),
    "S3.11": (
        "dpengine/mechanisms/curves/density.py",
        "apart = density_table.farthest_of(self.tables)",
        "apart = density_table.farthest_of(self.tables) // 2",
    ),
    "S3.12": (
        "demos/thesis.py",
        "Cell(floor, float(thesis_floor(steps, epsilon, delta)))",
        "Cell(floor, float(thesis_floor(steps, epsilon, delta)) * 1.01)",
    ),
    "S4.1": (
        "dpengine/planning/trust_models.py",
        "return Noise(p, sqrt(query.facts.about * p * (1 - p)) / float(1 - 2 * p))",
        "return Noise(p, query.facts.about * p * (1 - p) / float(1 - 2 * p))",
    ),
    "S4.2": (
        "dpengine/noise/shuffle_model.py",
        "return loose[coins.order(len(loose))]",
        "return loose",
    ),
    "S4.3": (
        "dpengine/noise/binomial.py",
        "return max(less, more)",
        "return max(less, more) / 2",
    ),
    "S4.4": (
        "dpengine/noise/binomial.py",
        "return Fraction((excess if sums == 1 else excess_of_two)(n, p, epsilon)) <= delta",
        "return Fraction(excess(n, p, epsilon)) <= delta",
    ),
    "S4.5": (
        "dpengine/mechanisms/local/shuffle_histogram.py",
        "return float(n + n * self.chance - ones), (",
        "return float(n - n * self.chance - ones), (",
    ),
    "S5.1": (
        "dpengine/mechanisms/models/excess.py",
        "bounds.append(start / (2 * rate * steps) + rate / 2 * (setting.clip**2 + variance) * (1 + 1 / steps))",
        "bounds.append(start / (4 * rate * steps) + rate / 2 * (setting.clip**2 + variance) * (1 + 1 / steps))",
    ),
    "S5.2": (
        "dpengine/mechanisms/models/of_gradients.py",
        "return self.change**2 * self.steps / self.epsilon**2",
        "return self.change**2 / self.epsilon**2",
    ),
    "S5.3": (
        "dpengine/planning/training.py",
        "steps = math.floor((float(epsilon) * people / width) ** 2 / ln)",
        "steps = math.floor((float(epsilon) * people) ** 2 / width / ln)",
    ),
    "S5.4": (
        "dpengine/mechanisms/sums/vector_mean.py",
        "return Moved(2 * m * total, 4 * m**2 * square, weight)",
        "return Moved(2 * m * total, m**2 * square, weight)",
    ),
    "S5.5": (
        "dpengine/statistics/features.py",
        "return math.isqrt(2 ** (2 * ROW_BITS) // (len(self.columns) + 1))",
        "return math.isqrt(2 ** (2 * ROW_BITS) // len(self.columns))",
    ),
    "S1.7'": (
        "dpengine/mechanisms/synthetic/small_database.py",
        'asked_on=("synthetic", "whatif"),',
        'asked_on=("whatif",),',
    ),
    "S1.7''": (
        "dpengine/planning/lecture_curves.py",
        "return math.ceil(4 / (alpha * epsilon) * chosen)",
        "return math.ceil(4 / alpha * chosen)",
    ),
    "S1.7'''": (
        "dpengine/planning/lecture_curves.py",
        'curves["added"].append((many, min(many * each, 1.0)))',
        'curves["added"].append((many, min(each, 1.0)))',
    ),
    "S1.2'": (
        "demos/lessons/election.py",
        "return tuple(highest(2 / epsilon, gaps) for gaps in behind)",
        "return tuple(highest(1 / epsilon, gaps) for gaps in behind)",
    ),
    "S2.6'": (
        "dpengine/planning/lecture_curves.py",
        "near = math.log(2 * questions / beta) * math.sqrt(8 * questions * ln) / people",
        "near = math.log(2 * questions / beta) * 8 * questions * ln / people",
    ),
    "S2.7'": (
        "demos/lessons/film.py",
        "place = np.clip(xs + gap + reach, 0, len(xs) - 1)",
        "place = np.clip(xs + gap + reach + 1, 0, len(xs) - 1)",
    ),
    "S3.1'": (
        "demos/lessons/rows.py",
        "steps, diameter = [pixel * GRAIN for pixel in PIXELS], len(PIXELS)",
        "steps, diameter = [pixel * GRAIN for pixel in PIXELS], 1",
    ),
    "S3.5'": (
        "demos/lessons/rows.py",
        'return int(noise == "one" and len(shifts) > 1)',
        'return int(noise == "one")',
    ),
    "S3.7'": (
        "demos/thesis.py",
        "row = Swap(2, epsilon, delta)",
        "row = Swap(3, epsilon, delta)",
    ),
    "S3.7''": (
        "dpengine/noise/row_noise.py",
        "return self.swap.mixed / 2",
        "return self.swap.mixed",
    ),
    "S3.12'": (
        "ui/publish/thesis.py",
        "_short(2 * sqrt(log(2 / DELTA)) / figure.epsilon)",
        "_short(sqrt(log(2 / DELTA)) / figure.epsilon)",
    ),
    "S4.4'": (
        "dpengine/planning/lecture_curves.py",
        '("second", min(size, people))',
        '("second", size)',
    ),
    "S5.1'": (
        "dpengine/planning/lecture_curves.py",
        "return near + spread * (math.log(grid_points(setting, step)) + 1)",
        "return near / 40 + spread / 40 * (math.log(grid_points(setting, step)) + 1)",
    ),
    "S5.3'": (
        "dpengine/mechanisms/models/excess.py",
        "return self.width * worst**2",
        "return worst**2",
    ),
    "S5.4'": (
        "dpengine/planning/lecture_curves.py",
        "math.sqrt(d / (2 * rho)) / people) for d in widths]",
        "math.sqrt(1 / (2 * rho)) / people) for d in widths]",
    ),
}


def rows() -> dict[str, list[str]]:
    """The cells of both tables of docs/sources.md, by name; a bar inside a cell is escaped."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / "docs" / "sources.md").read_text(encoding="utf-8").splitlines():
        if re.match(r"\| S\d", line):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            name = cells[0]
            while name in found:
                name += "'"
            found[name] = cells
    return found


def fails(copy: Path, row: str) -> bool:
    """Does the row's test fail with its formula broken? The copy is whole again afterwards."""
    file, old, new = BROKEN[row]
    path, test = copy / file, rows()[row][4]
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace(old, new, 1), encoding="utf-8")
    try:
        options = ["-W", "error", "-m", "pytest", "-p", "no:playwright", "-p", "no:cacheprovider", "-q", "-x", test]
        done = subprocess.run([sys.executable, *options], cwd=copy, capture_output=True, check=False)
        return done.returncode == 1
    finally:
        path.write_text(whole, encoding="utf-8")


def main() -> int:
    chosen = sys.argv[1:] or list(BROKEN)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        caught = 0
        for row in chosen:
            seen = fails(copy, row)
            caught += seen
            print(f"{'caught' if seen else 'ESCAPED':<8} {row:<8} {rows()[row][4]}", flush=True)
    print(f"\n{caught} of {len(chosen)} broken formulas were caught.")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
