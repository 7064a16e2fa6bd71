"""One thread that does first what is due first."""

from __future__ import annotations

import heapq
import itertools
import math
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


class DeadlineExecutor(Executor):
    """Runs work in one thread, in the order of its deadlines; equal ones in the order they came.

    Work that has begun is not interrupted.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._queue: list[tuple[float, int, Future[Any], Callable[[], Any]]] = []
        self._ticket = itertools.count()
        self._news = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Work for which nobody waits: it comes after everything that has a deadline."""
        return self.submit_by(math.inf, fn, *args, **kwargs)

    def submit_by(self, due: float, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Work that should be done by ``due``, as ``time.monotonic`` counts."""
        future: Future[Any] = Future()
        with self._news:
            if self._closed:
                raise RuntimeError("this executor is closed")
            heapq.heappush(self._queue, (due, next(self._ticket), future, lambda: fn(*args, **kwargs)))
            self._news.notify()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """See ``Executor.shutdown``."""
        with self._news:
            self._closed = True
            if cancel_futures:
                for _, _, future, _ in self._queue:
                    future.cancel()
            self._news.notify()
        if wait:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._news:
                while not self._queue and not self._closed:
                    self._news.wait()
                if not self._queue:
                    return
                _, _, future, work = heapq.heappop(self._queue)
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - handed over, as an executor does
                future.set_exception(error)
            del future, work  # what they hold must not wait for the next one


def submit_by(executor: Executor, due: float, fn: Callable[..., Any], /, *args: Any) -> Future[Any]:
    """Give work to an executor; one that knows no deadlines takes it as it comes."""
    if isinstance(executor, DeadlineExecutor):
        return executor.submit_by(due, fn, *args)
    return executor.submit(fn, *args)
