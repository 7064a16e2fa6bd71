"""``python -m benchmarks NAME``: one command for each number in the README."""

from __future__ import annotations

import importlib
import sys

NAMES = {
    "throughput": "the same lines at 1, 2, 4, ... slots; refill against static batches; mixed against grouped",
    "latency": "time to the first sound and to the end of one line, alone and beside others",
    "occupancy": "useful row-steps of all row-steps on 60 short and 4 long lines",
    "memory": "KV reserved against used, predicted against measured peak",
    "attention": "the paged product against padded, bucketed and compiled attention",
    "sampling": "seeded against unseeded noise, each sampler setting, and the host's work per step",
    "packed": "weights on the CPU, laid out once or at every call",
    "threads": "one thread each for loop and codec against all cores for both, and bf16",
    "codec": "chunked against whole decode: difference and cost",
    "startup": "import, help, load and first page",
    "hybrid": "the hybrid against a transformer of like size",
    "serve": "concurrent HTTP clients against one at a time",
    "page": "the table with 500 rows in a browser",
    "gpu": "roofline of this GPU, and each figure as a share of it",
}


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark that is named first."""
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments or arguments[0] in ("-h", "--help") or arguments[0] not in NAMES:
        print(__doc__)
        for name, what in NAMES.items():
            print(f"  {name:<11}{what}")
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    module = importlib.import_module(f"benchmarks.{arguments[0]}")
    status: int = module.main(arguments[1:])
    return status


if __name__ == "__main__":
    raise SystemExit(main())
