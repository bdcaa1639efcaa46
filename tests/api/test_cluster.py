"""Launches on a Dask cluster of processes give what one process gives, whatever happens to it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from subprocess import DEVNULL, Popen
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any, TypeAlias
from unittest.mock import patch

import numpy as np
import pytest
from click.testing import CliRunner, Result

import ptokit as pto
from fuzz.scale import FACTOR, sampled
from native import test_kernel_ranges as several
from native.test_blocks_in_order import (
    APART,
    MEETINGS,
    PART,
    RELU,
    ROWS,
    T,
    load,
    program,
    store,
    text,
)
from ptokit.api import workers
from ptokit.api.cluster import ClusterLaunch
from ptokit.tools import cli

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
dask = pytest.importorskip("dask")
Cluster: TypeAlias = Any  # Any: distributed has types for a part of what it offers
Client: TypeAlias = Any  # Any: as above

# 15 seconds after a worker has died, Dask looks whether it is there again, and ends its nanny if
# not: when a later test kills it at that moment, nothing starts it again.
KEEPS_NANNIES = {"distributed.deploy.lost-worker-timeout": "1 hour"}
LOOKS = 600  # for half a minute, at most: a process may start late on a machine that is busy
LONG = f"""\
  %many = arith.constant COUNT : index
{load("here")}  scf.for %i = %c0 to %many step %c1 {{
{RELU}  }}
{store("over")}"""
WRONG = (
    (  # from block 3 on the place is outside
        "  %e = arith.muli %r, %c16 : index\n  %w = arith.muli %e, %c1 : index\n"
        f"  %bad = pto.partition_view %vy, offsets = [%w, %c0], sizes = [%c8, %c16] : "
        f"!pto.tensor_view<?x?xf32> -> {PART}\n"
    )
    + load("here")
    + store("bad")
)
PRINTS = load("here") + f"  pto.tprint ins(%t : {T})\n"
IN_ORDER = ("each reads what the one before wrote", "they add to places that overlap")
PROGRAMS = {
    **{name: text(body) for name, body in APART.items()},
    **{name: program(MEETINGS[name]) for name in IN_ORDER},
    "one writes beyond the array": text(WRONG),
    "they print": program(PRINTS),
}
HOW = (  # arrays that are given, and options
    ("xy", {"blocks": 16}),
    ("x", {"blocks": 3}),
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    how = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "PATIENCE", 4 * workers.PATIENCE)  # of a machine that is busy
        with dask.config.set(KEEPS_NANNIES), distributed.LocalCluster(**how) as made:
            yield made


@pytest.fixture(scope="module")
def client(cluster: Cluster) -> Iterator[Client]:
    with distributed.Client(cluster, set_as_default=False) as made:
        yield made


def told(text: str, given: str = "xy", **how: Any) -> object:  # Any: options
    """All that a run gives: bytes, counts, or what is wrong."""
    x = np.random.default_rng(1).integers(-3, 3, (ROWS, 16)).astype(np.float32)
    arrays = {"x": x, "y": np.ones_like(x)}
    try:
        done = pto.loads(text, "k.pto").execute({name: arrays[name] for name in given}, **how)
    except pto.PtoError as problem:
        return str(problem)
    return {n: a.tobytes() for n, a in done.outputs.items()}, done.instructions


def tasks(dask_scheduler: Any) -> dict[str, str]:  # Any: Dask's
    return {str(key): str(task.state) for key, task in dask_scheduler.tasks.items()}


def running(dask_worker: Any) -> int:  # Any: Dask's
    return int(dask_worker.state.executing_count)


def require_nothing_left(client: Client) -> None:
    """Soon no worker works any more, and the scheduler knows of nothing."""
    left: object = None
    for _ in range(LOOKS):
        known, busy = client.run_on_scheduler(tasks), client.run(running)
        left = known, busy
        if not known and not any(busy.values()):
            return
        time.sleep(0.05)
    raise AssertionError(left)


def require_others(client: Client, before: set[int]) -> None:
    """Soon each worker is a new process; the scheduler may still list one that died."""
    found: dict[str, int] = {}
    for _ in range(LOOKS):
        found = client.run(os.getpid, on_error="ignore")
        if found and before.isdisjoint(found.values()):
            return
        time.sleep(0.05)
    raise AssertionError(found)


@pytest.mark.parametrize("count", sampled([2, 1, 3, 4], 4))
def test_any_number_of_workers_gives_the_same(
    cluster: Cluster, client: Client, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reference runs blocks in order; so where they meet in part the last one stays."""
    cluster.scale(count)
    client.wait_for_workers(count, 30)
    for name, body in PROGRAMS.items():
        for given, how in HOW if name in APART else HOW[:1]:
            expected = told(body, given, **how, engine="reference")
            printed = sorted(capsys.readouterr().out.splitlines())
            assert told(body, given, **how, cluster=client) == expected, (name, how)
            assert sorted(capsys.readouterr().out.splitlines()) == printed, (name, how)
    require_nothing_left(client)


def test_an_output_that_a_later_block_makes_larger(client: Client) -> None:
    """One process runs such a launch again on one thread, a cluster on one worker."""
    part = text(load("here") + store("over")).replace("shape = [%rows,", "shape = [%e,")
    grows = part.replace("%s = arith", "%e = arith.muli %r, %c8 : index\n  %s = arith", 1)
    expected = told(grows, "x", blocks=4, engine="reference")
    assert told(grows, "x", blocks=4, cluster=client) == expected


def test_a_limit_of_instructions(client: Client) -> None:
    """It counts those of all blocks, so one worker runs them."""
    body = PROGRAMS["they meet in part"]
    how: dict[str, Any] = {"blocks": 16, "max_instructions": 9}  # Any: options
    assert told(body, **how, cluster=client) == told(body, **how, engine="reference")


def long(iterations: int) -> str:
    return text(LONG.replace("COUNT", str(iterations)))


@contextmanager
def when_busy(client: Client, act: Callable[[], object]) -> Generator[None]:
    """Calls `act` as soon as a worker computes; it is a fault of the test if none ever did."""
    over, acted = Event(), Event()

    def watch() -> None:
        while not any(client.run(running).values()):
            if over.wait(0.005):
                return
        acted.set()
        act()

    thread = Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert acted.is_set(), "the work was over before a worker was seen at it"


def kill_all(client: Client) -> None:
    for pid in client.run(os.getpid).values():
        os.kill(pid, signal.SIGKILL)


def test_a_worker_that_dies_is_replaced(client: Client) -> None:
    """All of them die: with them goes what they were given."""
    before = set(client.run(os.getpid).values())
    expected = told(long(400_000), blocks=8)
    with when_busy(client, lambda: kill_all(client)):
        assert told(long(400_000), blocks=8, cluster=client) == expected
    require_others(client, before)
    require_nothing_left(client)


def test_an_interrupt_ends_the_work(client: Client) -> None:
    # jobs of a shell in the background ignore interrupts
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt = when_busy(client, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        with interrupt, pytest.raises(KeyboardInterrupt):
            told(long(10**12), blocks=8, cluster=client)
    finally:
        signal.signal(signal.SIGINT, before)
    require_nothing_left(client)


def test_a_limit_of_time(client: Client) -> None:
    found = told(long(10**12), blocks=8, cluster=client, timeout=0.3)
    assert "time limit of 0.3 seconds" in str(found)
    require_nothing_left(client)


# the command line


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Moves that were recorded, one of them wrongly."""
    folder = tmp_path_factory.mktemp("vectors")
    tile = {"loc": "vec", "dtype": "f32", "rows": 8, "cols": 8, "valid": [8, 8]}
    tile |= {"layout": "nd", "fractal": 512, "pad": "null"}
    bytes_ = np.arange(256, dtype=np.uint8)
    cases: list[dict[str, Any]] = []  # Any: JSON
    arrays: dict[str, Any] = {}  # Any: arrays
    for number in range(130):
        operands = {"dst": tile, "src": tile}
        case = {"id": f"c{number}", "op": "tmov", "form": "plain", "operands": operands}
        cases.append({**case, "scalars": {}, "attrs": {}, "outs": ["dst"]})
        after = bytes_[::-1] if number == 100 else bytes_
        names = {"src": bytes_, "dst": bytes_ * 0, "dst.after": after, "src.after": bytes_}
        arrays |= {f"c{number}/{name}": array for name, array in names.items()}
    (folder / "tmov.json").write_text(json.dumps(cases), encoding="utf-8")
    np.savez(folder / "tmov.npz", **arrays)
    return folder


def test_cases_are_replayed_on_a_cluster(client: Client, vectors: Path) -> None:
    alone = ptokit("replay", vectors)
    shared = ptokit("replay", vectors, "--scheduler", client.scheduler.address)
    assert alone.output.splitlines()[-1] == "129 passed, 1 failed, 0 skipped"
    assert (shared.output, shared.exit_code) == (alone.output, 1)


def ptokit(*words: object) -> Result:
    return CliRunner().invoke(cli.main, [str(w) for w in words])


def test_the_command_shows_progress(client: Client, tmp_path: Path) -> None:
    kernel = tmp_path / "k.pto"
    kernel.write_text(text(APART["they share nothing"]))
    x = np.ones((ROWS, 16), np.float32)
    np.save(tmp_path / "x.npy", x)
    how = ("--blocks", 8, "-o", f"y={tmp_path / 'y.npy'}", "--progress")
    where = ("--scheduler", client.scheduler.address)
    done = ptokit("run", kernel, f"x={tmp_path / 'x.npy'}", *how, *where)
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "8 of 8 blocks")
    found = np.load(tmp_path / "y.npy").reshape(ROWS, 16)
    assert np.array_equal(found[:64], x[:64])
    assert not found[64:].any()


NEEDS: dict[tuple[object, ...], str] = {  # what a tired user types -> what the message says
    (): "give --blocks N",
    ("--blocks", 4, "--engine", "reference"): "needs the engine native, not reference",
    ("--blocks", 4, "--trace", "-"): "need one process",
    ("--blocks", 4, "--scheduler", "localhost"): "no scheduler answers at localhost",
}


@pytest.mark.parametrize("words", NEEDS)
def test_wrong_words(words: tuple[object, ...], tmp_path: Path) -> None:
    (tmp_path / "k.pto").write_text(text(APART["they share nothing"]))
    np.save(tmp_path / "x.npy", np.ones((ROWS, 16), np.float32))
    where = () if "--scheduler" in words else ("--scheduler", "tcp://127.0.0.1:1")
    done = ptokit("run", tmp_path / "k.pto", f"x={tmp_path / 'x.npy'}", *where, *words)
    assert done.exit_code == 2
    assert NEEDS[words] in done.output


def test_something_else_than_a_client(client: Client) -> None:
    with pytest.raises(TypeError, match=r"expected a synchronous dask\.distributed\.Client"):
        told(PROGRAMS["they print"], blocks=4, cluster="tcp://127.0.0.1:8786")
    with pytest.raises(ValueError, match="runs the engine native, not reference"):
        told(PROGRAMS["they print"], blocks=4, cluster=client, engine="reference")


def test_a_cluster_has_no_other_schedule(client: Client) -> None:
    """Nobody would look for races there: to leave the words out unseen would say there are none."""
    with pytest.raises(ValueError, match="remove the schedule or the cluster"):
        pto.loads(text(APART["they share nothing"])).run(
            blocks=2, schedule="random:1", cluster=client
        )


def test_dask_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'ptokit[cluster]'" in str(told(PROGRAMS["they print"], cluster="x"))


def test_workers_have_another_version(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def newer(name: str) -> str:
        return "9.9"

    monkeypatch.setattr(workers, "version", newer)
    found = str(told(PROGRAMS["they print"], blocks=4, cluster=client))
    assert f"has ptokit {version('ptokit')}, here it is 9.9" in found


def test_nobody_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 0.2)
    how = {"n_workers": 0, "processes": False, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**how) as empty, distributed.Client(empty) as nobody:
        found = str(told(PROGRAMS["they print"], blocks=4, cluster=nobody))
    assert "there is no worker at" in found


# kernels of several cores


EVERY = {**several.APART, **several.TOGETHER, **several.SHARING, **several.MEETING}


@pytest.mark.parametrize("name", sampled(EVERY, 2))
def test_kernels_of_several_cores(
    client: Client, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bytes, counts, and of those that fail the lowest block's error, as in one process."""
    expected = several.outcome(EVERY[name], engine="reference", blocks=4)
    printed = capsys.readouterr().out
    runs_whole = vars(ClusterLaunch)["_whole"]
    with patch.object(ClusterLaunch, "_whole", autospec=True, side_effect=runs_whole) as whole:
        assert several.outcome(EVERY[name], blocks=4, cluster=client) == expected
    assert whole.called == (name in {**several.TOGETHER, **several.MEETING})
    assert capsys.readouterr().out == printed
    require_nothing_left(client)


def test_blocks_of_several_cores_are_dealt_out(client: Client) -> None:
    """Several workers have a part each of what pipes connect."""
    random, path = np.random.default_rng(3), Path("examples/pto/flash_attention.pto")
    given = {name: random.standard_normal((256, 64)).astype(np.float16) for name in "qkvo"}
    kernel = pto.load(Path(__file__).parents[2] / path)
    alone = kernel.execute({**given, "tokens": 128}, blocks=4)
    with patch.object(ClusterLaunch, "_whole") as whole:
        shared = kernel.execute({**given, "tokens": 128}, blocks=4, cluster=client)
    assert not whole.called
    assert np.array_equal(alone.outputs["o"], shared.outputs["o"])
    assert alone.instructions == shared.instructions


MEETING = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<{}>"
MEET = MEETING.format("mix")
AT_ONCE = f"""func.func @f(%g: !pto.ptr<i32>) attributes {{
    pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  {MEETING.format("aiv_only")}
  return
}}
"""


@pytest.mark.parametrize(("program", "whole"), [(AT_ONCE, True), (None, False)])
def test_the_report_tells_of_a_launch_that_one_worker_ran(
    client: Client, tmp_path: Path, program: str | None, whole: bool
) -> None:
    kernel = tmp_path / "k.pto"
    kernel.write_text(program or text(APART["they share nothing"]))
    np.save(tmp_path / "x.npy", np.ones((ROWS, 16), np.float32 if program is None else np.int32))
    name = "g" if program else "x"
    how = ("--blocks", 8, "--report", "--scheduler", client.scheduler.address)
    done = ptokit("run", kernel, f"{name}={tmp_path / 'x.npy'}", *how)
    assert done.exit_code == 0, done.output
    assert ("one worker ran all blocks" in done.output) == whole


def test_what_the_launch_of_one_worker_leaves_in_queues(client: Client) -> None:
    text = several.LEFT_OVER.replace("pto.section.cube {", f"pto.section.cube {{\n    {MEET}")
    text = text.replace("pto.section.vector {", f"pto.section.vector {{\n    {MEET}")
    here = pto.loads(text).execute(several.given(), blocks=2)
    there = pto.loads(text).execute(several.given(), blocks=2, cluster=client)
    assert there.whole
    assert [w.seen for w in there.warnings] == [w.seen for w in here.warnings]


@pytest.mark.skipif(FACTOR == 1, reason="a process starts anew: `make test-all` runs it")
def test_a_worker_that_dies_with_cores_that_wait_is_replaced(client: Client) -> None:
    """Its blocks run again elsewhere."""
    popped = "pto.tpop(%t, %pipe : !T, !pto.pipe) {split = 0}"
    work = f"""{popped}
    scf.for %i = 0 to 4000000 step 1 {{
      pto.tsqrt ins(%t : !T) outs(%t : !T)
    }}"""
    text = several.LEFT_OVER.replace(popped, work)
    before = set(client.run(os.getpid).values())
    expected = several.outcome(text, blocks=4)
    assert "error[" not in str(expected)
    with when_busy(client, lambda: kill_all(client)):
        assert several.outcome(text, blocks=4, cluster=client) == expected
    require_others(client, before)
    require_nothing_left(client)


@pytest.mark.skipif(FACTOR == 1, reason="two processes start: `make test-all` runs it")
def test_a_scheduler_that_dies_is_named(tmp_path: Path) -> None:
    where = tmp_path / "scheduler.json"
    path = os.pathsep.join(str(folder) for folder in Path(__file__).parents[:2])
    dask = ["env", f"PYTHONPATH={path}", sys.executable, "-m", "dask"]
    start = ["--scheduler-file", where, "--no-dashboard"]
    scheduler = Popen([*dask, "scheduler", "--port", "0", *start], stderr=DEVNULL)
    worker = Popen([*dask, "worker", "--nthreads", "1", *start], stderr=DEVNULL)
    try:
        until = time.monotonic() + 60
        while not where.exists() and time.monotonic() < until:
            time.sleep(0.1)
        with (
            distributed.Client(scheduler_file=str(where), set_as_default=False) as client,
            when_busy(client, scheduler.kill),
        ):
            found = told(long(10**12), blocks=8, cluster=client)
        assert "error[cluster]: the cluster cannot run this" in str(found)
        assert "has ended" in str(found)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://127.0.0.1:1", r"the scheduler at tcp://127\.0\.0\.1:1 has ended"),
        ("inproc://1", "a fault of ours"),  # stays one
    ],
)
def test_what_goes_wrong_because_no_scheduler_is_there_says_so(address: str, said: str) -> None:
    client = SimpleNamespace(scheduler=SimpleNamespace(address=address))
    with pytest.raises((pto.PtoError, AttributeError), match=said), workers.attended(client):
        raise AttributeError("a fault of ours")
