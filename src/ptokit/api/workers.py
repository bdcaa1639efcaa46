"""Calls on the workers of a Dask cluster, which are repeated if a worker dies."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future as Placing
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import version
from queue import Empty, SimpleQueue
from socket import create_connection
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar
from urllib.parse import urlsplit

from ptokit.diagnostics.diagnostic import PtoError, call_error
from ptokit.machine.launchoptions import RunLimits

PATIENCE = 30.0  # seconds to wait for a worker
CONNECT = 10.0  # seconds to wait for a scheduler
LOOK = 1.0  # seconds between checks of the workers
TRIES = 4  # workers that may die in one call

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")
Client: TypeAlias = Any  # Any: distributed has types for a part of what it offers
Pending: TypeAlias = Any  # Any: as above; a Future of Dask
Ended: TypeAlias = "SimpleQueue[tuple[int, Pending]]"


def problem(seen: str, help: str) -> PtoError:
    """Return the error of a faulty cluster."""
    return call_error("cluster", "the cluster cannot run this", seen=seen, help=help)


def dask() -> Any:  # Any: a module that few have installed
    """Return `dask.distributed`; PtoError if it is not installed."""
    try:
        return import_module("distributed")
    except ModuleNotFoundError:
        install = "pip install 'ptokit[cluster]'"
        raise problem("dask.distributed is not installed", install) from None


def _require_listener(address: str) -> None:
    """Raise OSError or ValueError unless a process listens at the address.

    Dask itself would keep trying.
    """
    url = urlsplit(address)
    if url.scheme not in ("tcp", "tls") or not url.hostname or not url.port:
        raise ValueError(address)
    create_connection((url.hostname, url.port), CONNECT).close()


@contextmanager
def connected(address: str) -> Generator[Client]:
    """Yield a client of the scheduler at this address, as tcp://HOST:PORT."""
    kind = dask().Client
    client = kind.__new__(kind)
    try:
        _require_listener(address)
        client.__init__(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError):
        client.status = "closed"  # otherwise it would log an error when it is collected
        seen = f"no scheduler answers at {address}"
        raise problem(seen, "start one with `dask scheduler`; it prints tcp://HOST:PORT") from None
    with client:
        yield client


def require_workers(cluster: object) -> Client:
    """Return the client of a cluster that has workers with this version of ptokit."""
    client: Client = cluster
    if not isinstance(cluster, dask().Client) or client.asynchronous:
        raise TypeError(f"cluster is {cluster!r}: expected a synchronous dask.distributed.Client")
    try:
        client.wait_for_workers(1, PATIENCE)
    except TimeoutError:
        raise _nobody(client) from None
    mine = version("ptokit")
    every = _patiently(client, lambda: client.get_versions(packages=["ptokit"]))
    for address, known in sorted(every["workers"].items()):
        its = known["packages"]["ptokit"]
        if its != mine:
            seen = f"the worker {address} has {f'ptokit {its}' if its else 'no ptokit'}"
            raise problem(f"{seen}, here it is {mine}", f"install ptokit {mine} for the workers")
    return client


def _patiently(client: Client, ask: Callable[[], R]) -> R:
    """Return the answer to a request to all workers, repeated if a worker dies meanwhile."""
    late = time.monotonic() + PATIENCE
    while True:
        try:
            return ask()
        except OSError:  # also a time-out
            if time.monotonic() > late:
                raise _nobody(client) from None
            time.sleep(LOOK / 10)


def _nobody(client: Client) -> PtoError:
    address = client.scheduler.address
    help = f"start some with `dask worker {address}`"
    return problem(f"there is no worker at {address} for {PATIENCE:g} seconds", help)


@contextmanager
def attended(client: Client) -> Generator[None]:
    """Raise PtoError if an exception of the body is caused by the end of the scheduler."""
    address = client.scheduler.address
    try:
        yield
    except PtoError:
        raise
    except Exception:
        _require_scheduler(address)
        raise


def _require_scheduler(address: str) -> None:
    """Raise PtoError if the scheduler in another process has ended."""
    try:
        _require_listener(address)
    except OSError:
        help = "restart the scheduler, and see its log: often its memory is full"
        raise problem(f"the scheduler at {address} has ended", help) from None
    except ValueError:  # the scheduler is in this process
        return


def threads(client: Client) -> int:
    """Return the number of threads of all workers."""
    return sum(client.nthreads().values()) or 1


class Abandoned(Exception):
    """Raised if the result of this run is no longer needed."""


class Attended(RunLimits):
    """Limits of a run in a worker's task, which also end the run if the task is cancelled."""

    def __init__(self, instructions: int | None, seconds: float | None) -> None:
        super().__init__(instructions, seconds)
        worker = dask().get_worker()
        self._tasks, self._key = worker.state.tasks, worker.get_current_task()

    def late(self) -> bool:
        if self._key not in self._tasks or self._tasks[self._key].state == "cancelled":
            raise Abandoned
        return super().late()


class Sent(NamedTuple):
    """A call that was sent, and the placement of `shared` at that time."""

    future: Pending
    shared: Pending


class Workers(Generic[S]):
    """The workers of a cluster, while each of them holds `shared`."""

    def __init__(self, client: Client, shared: S) -> None:
        self.client, self._shared = client, shared
        self._address: str = client.scheduler.address
        self._data: Pending = None  # of `shared`
        self._open: dict[int, Sent] = {}
        self._thread = ThreadPoolExecutor(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Release all calls and data, whatever ended the body."""
        self._cancel(0)
        self._drop(filter(None, [self._data]))
        self._thread.shutdown(wait=False)

    def call(
        self,
        function: Callable[[S, T], R],
        items: Sequence[T],
        ended: Callable[[T], None] = lambda item: None,
        last: Callable[[R], bool] = lambda result: False,
    ) -> list[R]:
        """Return `function(shared, item)` for each item, in order, up to the first `last` result.

        `ended` is called with each completed item.
        """
        found: dict[int, R] = {}
        ended_calls: Ended = SimpleQueue()
        deaths, wanted = Counter[int](), len(items)
        while missing := [n for n in range(wanted) if n not in found]:
            for number in missing:
                if number not in self._open:
                    self._send(number, function, items[number], ended_calls)
            number, future = self._next_ended(ended_calls)
            if number not in self._open or self._open[number].future is not future:
                continue
            try:
                found[number] = self._result(number)
            except dask().CancelledError:
                _require_scheduler(self._address)  # otherwise Dask waits long for another one
                deaths[number] += 1
                if deaths[number] == TRIES:
                    raise _died() from None
                continue
            ended(items[number])
            if last(found[number]):
                wanted = number + 1
                self._cancel(wanted)
        return [found[n] for n in range(wanted)]

    def _send(
        self, number: int, function: Callable[[S, T], R], item: T, ended_calls: Ended
    ) -> None:
        if self._data is None:
            self._data = self._placed()
        future: Pending = self.client.submit(function, self._data, item, pure=False)
        self._open[number] = Sent(future, self._data)

        def tell(_: object) -> None:
            ended_calls.put((number, future))

        future.add_done_callback(tell)

    def _placed(self) -> Pending:
        """Return `shared` on all workers; an interrupt drops it after it was placed."""
        pending = self._thread.submit(self._scattered)
        try:
            return pending.result()
        except BaseException:
            pending.add_done_callback(self._unwanted)
            raise

    def _unwanted(self, done: Placing[object]) -> None:
        if done.exception() is None:
            self._drop([done.result()])

    def _scattered(self) -> Pending:
        """Return `shared` on all workers."""
        how = {"broadcast": True, "hash": False, "timeout": PATIENCE}
        [data] = _patiently(self.client, lambda: self.client.scatter([self._shared], **how))
        return data

    def _result(self, number: int) -> Any:  # Any: of the function
        call = self._open.pop(number)
        try:
            return call.future.result()
        except dask().CancelledError:
            if self._data is call.shared:  # lost with the last worker that held it
                self._data = None
            raise
        except dask().KilledWorker:
            raise _died() from None
        except Exception:
            require_workers(self.client)  # a new worker may lack ptokit
            raise

    def _next_ended(self, ended_calls: Ended) -> tuple[int, Pending]:
        """Return the next completed call, as long as there are workers."""
        seen = time.monotonic()
        while True:
            try:
                return ended_calls.get(timeout=LOOK)
            except Empty:
                if self.client.nthreads():
                    seen = time.monotonic()
                elif time.monotonic() > seen + PATIENCE:
                    raise _nobody(self.client) from None

    def _cancel(self, first: int) -> None:
        numbers = [n for n in self._open if n >= first]
        self._drop(self._open.pop(n).future for n in numbers)

    def _drop(self, futures: Iterable[object]) -> None:
        dropped = [*futures]
        with suppress(Exception):  # without an answer there is nothing to release
            if dropped:
                self.client.cancel(dropped, force=True)


def _died() -> PtoError:
    seen = f"{TRIES} workers died in the same call"
    return problem(seen, "see the logs of the workers: often their memory is full")


def spread(
    cluster: object, function: Callable[[S, T], R], shared: S, items: Sequence[T]
) -> list[R]:
    """Return `function(shared, item)` for each item, computed on the workers of a cluster."""
    client = require_workers(cluster)
    with attended(client), Workers(client, shared) as workers:
        return workers.call(function, items)
