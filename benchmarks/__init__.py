"""Every number in the README, measured: ``python -m benchmarks``."""
