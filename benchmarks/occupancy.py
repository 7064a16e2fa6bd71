"""Useful row-steps of all row-steps on 60 short and 4 long lines.

Steps are counted, not timed, so the smallest model there can be decodes them.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

from benchmarks.random_model import random_config, random_model
from benchmarks.report import arguments, show
from benchmarks.work import (
    PLAIN,
    best_occupancy,
    decode_refilled,
    decode_static,
    new_runner,
    plans,
    short_and_long,
    without_eos,
)


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("occupancy", __doc__ or "")
    parser.add_argument("--slots", type=int, nargs="+", default=[4, 8, 16])
    options = parser.parse_args(argv)
    model = without_eos(random_model(random_config("transformer", d_model=128, n_layer=1)))
    greedy = replace(PLAIN, temperature=0.0, min_p=0.0)
    scripts = [short_and_long(unit=20, order=order) for order in range(options.rounds)]
    rows = []
    for slots in options.slots:
        refilled = [
            decode_refilled(new_runner(model, slots), plans(model, script, greedy)) for script in scripts
        ]
        static = [decode_static(new_runner(model, slots), plans(model, script, greedy)) for script in scripts]
        rows.append(
            {
                "slots": slots,
                "refilled": fmean(timing.occupancy for timing in refilled),
                "at best": fmean(best_occupancy(model, script, slots) for script in scripts),
                "static": fmean(timing.occupancy for timing in static),
            }
        )
    show("occupancy on 60 short and 4 long lines", rows, options.json)
    return 0
