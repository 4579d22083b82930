"""Measure ``intent/dates.py`` on ``evals/corpus/dates``: dates found right, traps left alone, time for a sentence.

python scripts/measure_dates.py              # the development part, with each miss
python scripts/measure_dates.py --held-out   # the held-out part: figures alone

A case is right where as many dates are found as it has, each with the first and the last day that it names, or with one of
``also``; a trap, a case without dates, where none is found.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from hexamem.intent.dates import DateSpan, find_dates

CASES = Path(__file__).resolve().parents[1] / "evals" / "corpus" / "dates" / "dates.json"


def is_right(case: dict[str, Any], spans: tuple[DateSpan, ...]) -> bool:
    """Whether these are the dates of the case."""
    expected = [{f"{one['first']}/{one['last']}", *one.get("also", ())} for one in case["dates"]]
    days = [(span.day.isoformat(), span.last_day.isoformat()) for span in spans]
    return len(days) == len(expected) and all(
        f"{first}/{last}" in wanted or (first == last and first in wanted)
        for (first, last), wanted in zip(days, expected, strict=True)
    )


def main() -> None:
    """Print one line for each language and kind, and the time for a sentence after the first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", action="store_true")
    held_out: bool = parser.parse_args().held_out
    right, count, times = Counter[str](), Counter[str](), list[float]()
    for case in json.loads(CASES.read_text(encoding="utf-8")):
        if case["held_out"] != held_out:
            continue
        said_at, zone = datetime.fromisoformat(case["said_at"]), ZoneInfo(case["zone"])
        begun = time.perf_counter()
        spans = find_dates(case["text"], said_at, zone, prefer=case["prefer"])
        times.append(1000 * (time.perf_counter() - begun))
        kind = f"{case['language']} {'dates' if case['dates'] else 'traps'}"
        count[kind] += 1
        right[kind] += is_right(case, spans)
        if not held_out and not is_right(case, spans):
            print(f"{case['id']}  {case['text']}  →  {', '.join(f'{one.text} = {one.iso}' for one in spans) or 'none'}")
    for kind in sorted(count):
        print(f"{kind}: {right[kind]} of {count[kind]}")
    print(f"a sentence: median {statistics.median(times):.1f} ms, the slowest {max(times):.0f} ms (the first builds)")


if __name__ == "__main__":
    main()
