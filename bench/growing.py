"""Long programs: how long reading, checking and compiling take, and how much memory.

    python bench/growing.py tiles

prints the seconds and the megabytes of a row, in a process of its own: a program keeps what was
found out about it, and memory is counted for the whole process.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import reading
from kernel import compiled
from whole import Start

import longprograms
import ptokit as pto

Work = Callable[[str], object]


class Growth(NamedTuple):
    """A program as text, the work on it, and the most milliseconds and megabytes that it takes."""

    what: str
    text: Callable[[], str]
    work: Work
    most: float
    memory: float | None = None


def checked(target: str) -> Work:
    return lambda text: pto.loads(text).check(target)


def raced(text: str) -> object:
    return pto.loads(text).races("a2a3")


GROWTHS = {
    "tiles": Growth(
        "checking 5,000 tiles", lambda: longprograms.chain(5_000), checked("a5"), 3_000, 300
    ),
    "branches": Growth(
        "checking 5,440 lines of branches",
        lambda: longprograms.decisions(320),
        checked("a5"),
        1_500,
    ),
    "lines": Growth(
        "checking 100,000 lines", lambda: reading.program(100_000), checked("a2a3"), 10_000
    ),
    "straight": Growth(
        "compiling 10,000 instructions in a row",
        lambda: longprograms.straight(10_000),
        lambda text: compiled(text, {}),
        3_000,
    ),
    "races": Growth(
        "races of 1,600 lines with symbolic arguments",
        lambda: longprograms.phases(20),
        raced,
        3_000,
    ),
}


def growths(repeats: int) -> Iterator[Start]:
    """Rows as they are done: the time of each, and of some the memory."""
    for key, growth in GROWTHS.items():
        taken, memory = Start(growth.what, most=growth.most), Start("", unit="MB")
        for _ in range(repeats):
            command = [sys.executable, __file__, key]
            found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            seconds, megabytes = json.loads(found)
            taken.times.append(seconds * 1e3)
            memory.times.append(megabytes)
        yield taken
        if growth.memory is not None:
            memory.name, memory.most = f"{growth.what}, memory of the process", growth.memory
            yield memory


def main() -> None:
    growth = GROWTHS[sys.argv[1]]
    text = growth.text()
    begin = time.perf_counter()
    growth.work(text)
    print(json.dumps([time.perf_counter() - begin, peak()]))


def peak() -> float:
    """Return the most megabytes of this process; on Linux without those of the one that began it.

    There `ru_maxrss` begins with the memory of the parent, which the child had before `exec`.
    """
    status = Path("/proc/self/status")
    if status.exists():
        found = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(found["VmHWM"].split()[0]) / 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e6 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
