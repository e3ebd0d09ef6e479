"""Run every planted error, print which check caught which, and fail when one escapes."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # tests/helpers_*.py are imported by name


def main() -> int:
    from tests.planted.listed import PLANTED
    from tests.planted.registry import judge, name_of, write

    logging.disable()  # twins fail, and say so
    verdicts = []
    for planted in PLANTED:
        verdict = judge(planted, thorough=True)
        verdicts.append(verdict)
        by = ", ".join([name_of(planted.check), *verdict.also])
        print(f"{verdict.word:<12} {planted.name:<50} {by if verdict.caught else verdict.said}", flush=True)
    write(verdicts)
    caught = sum(verdict.caught for verdict in verdicts)
    print(f"\n{caught} of {len(verdicts)} planted errors were caught.")
    return 0 if caught == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
