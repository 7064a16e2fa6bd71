"""Numbers for Prometheus; each server has a registry of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from zonos.api.admission import Pace
from zonos.status import Status

_SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
_FACTORS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class Metrics:
    """What the routes count, and what the engine says of itself.

    Args:
        status: the engine's; None while no model is loaded.
        waiting: unfinished lines of jobs.
        requests: open speech requests.
        pace: told how long takes last.
    """

    def __init__(
        self,
        status: Callable[[], Status | None],
        waiting: Callable[[], int],
        requests: Callable[[], int],
        pace: Pace,
    ) -> None:
        self._pace = pace
        self.registry = CollectorRegistry()
        self.registry.register(_Engine(status, waiting, requests))
        self.first_chunk = Histogram(
            "zonos_first_chunk_seconds",
            "From a speech request to its first audio.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.real_time_factor = Histogram(
            "zonos_real_time_factor",
            "Seconds of work per second of audio, of one take, waiting included.",
            buckets=_FACTORS,
            registry=self.registry,
        )
        self.audio_seconds = Counter("zonos_audio_seconds", "Audio made.", registry=self.registry)
        self.takes = Counter("zonos_takes", "Takes made.", registry=self.registry)
        self.failures = Counter("zonos_failures", "Takes that failed.", ["code"], registry=self.registry)
        self.refused = Counter("zonos_refused", "Requests refused.", ["code"], registry=self.registry)

    def spoken(self, seconds: float, work: float) -> None:
        """A take of ``seconds`` was made in ``work`` seconds."""
        self._pace.record(work)
        self.takes.inc()
        self.audio_seconds.inc(seconds)
        if seconds > 0:
            self.real_time_factor.observe(work / seconds)

    def text(self) -> bytes:
        """In Prometheus' format."""
        return generate_latest(self.registry)


class _Engine(Collector):
    """Reads the engine when it is asked."""

    def __init__(
        self,
        status: Callable[[], Status | None],
        waiting: Callable[[], int],
        requests: Callable[[], int],
    ) -> None:
        self._status, self._waiting, self._requests = status, waiting, requests

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("zonos_job_lines_open", "Unfinished lines of jobs.", value=self._waiting())
        yield GaugeMetricFamily("zonos_speech_requests_open", "Open speech requests.", value=self._requests())
        status = self._status()
        if status is None:
            return
        gauges = {
            "zonos_queue_length": ("Pieces that wait for a slot.", status.waiting),
            "zonos_rows": ("Pieces being decoded.", status.running),
            "zonos_slots": ("Most pieces decoded at once.", status.slots),
            "zonos_occupancy": ("Share of slots in use, since the start.", status.occupancy),
        }
        for name, (words, value) in gauges.items():
            yield GaugeMetricFamily(name, words, value=value)
        yield CounterMetricFamily("zonos_frames", "Frames of finished pieces.", value=status.frames)
        yield CounterMetricFamily("zonos_steps", "Decode steps.", value=status.steps)
        yield CounterMetricFamily("zonos_row_steps", "Decode steps times rows.", value=status.row_steps)
