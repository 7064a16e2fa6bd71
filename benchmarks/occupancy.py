"""Useful row-steps of all row-steps on 60 short and 4 long lines."""

from __future__ import annotations

from statistics import fmean

from benchmarks.report import arguments, show
from benchmarks.work import (
    add_model_arguments,
    best_occupancy,
    decode_refilled,
    decode_static,
    load_model,
    new_runner,
    plans,
    short_and_long,
)


def main(argv: list[str]) -> int:
    """See ``--help``."""
    parser = arguments("occupancy", __doc__ or "")
    add_model_arguments(parser)
    parser.add_argument("--slots", type=int, nargs="+", default=[4, 8, 16])
    options = parser.parse_args(argv)
    model = load_model(options)
    scripts = [short_and_long(unit=20, order=order) for order in range(options.rounds)]
    rows = []
    for slots in options.slots:
        refilled = [decode_refilled(new_runner(model, slots), plans(model, script)) for script in scripts]
        static = [decode_static(new_runner(model, slots), plans(model, script)) for script in scripts]
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
