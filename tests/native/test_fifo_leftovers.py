"""What a launch leaves in the FIFOs between its cores is said once, in both engines the same."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from native.pipekernel import BACK, FREE, POP, PUSH, TAKE, kernel, repeated

ENGINES = ("reference", "native")
FREE_DOWN = "pto.tfree(%down : !pto.pipe) {split = 0}"
Taken = tuple[int, str, int, str]
GIVEN: dict[
    str, tuple[str, list[Taken]]
] = {  # the kernel on A5, and what each block leaves: how many were handed on and taken
    "nothing": (kernel(repeated(PUSH), repeated(POP, FREE)), []),
    "an entry": (kernel(PUSH, ""), [(1, "pushed", 0, "popped")]),
    "two of three": (kernel(repeated(PUSH), f"{POP}\n{FREE}"), [(3, "pushed", 1, "popped")]),
    "slots": (kernel(f"{PUSH}\n{PUSH}", f"{POP}\n{POP}"), [(2, "popped", 0, "freed")]),
    "both ways": (
        kernel(f"{PUSH}\n{TAKE}\n{FREE_DOWN}", f"{POP}\n{BACK}\n{BACK}"),
        [(1, "popped", 0, "freed"), (2, "pushed", 1, "popped")],
    ),
}


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("name", GIVEN)
def test_both_engines_say_what_is_left(name: str, blocks: int) -> None:
    text, left = GIVEN[name]
    program = pto.loads(text)
    given = {"x": np.zeros((16, 16), np.float32)}
    found = [program.execute(given, target="a5", engine=e, blocks=blocks) for e in ENGINES]
    said = [[warning.render() for warning in run.warnings] for run in found]
    assert said[0] == said[1]
    seen = [(w.seen or "").split(": ")[1] for w in found[0].warnings]
    assert sorted(seen) == sorted(
        f"{given * blocks} {what}, {taken * blocks} {how}" for given, what, taken, how in left
    )


def test_each_run_tells_of_itself_alone(engine: str) -> None:
    """Cores are used again."""
    text = kernel(repeated(PUSH, "%all = pto.get_block_num"), f"{POP}\n{FREE}")
    executable = pto.loads(text).compile(target="a5", engine=engine, blocks=2)
    runs = [executable.execute({"x": np.zeros((16, 16), np.float32)}) for _ in range(3)]
    assert [[w.seen for w in run.warnings] for run in runs] == [
        ["FIFO flags 0: 6 pushed, 2 popped"]
    ] * 3


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_signal_too_many_for_the_counter(engine: str, blocks: int) -> None:
    """Fifteen fit; on A5 nothing is said of the width."""
    sent, awaited = "pto.sync.set <PIPE_MTE3>, 3", "pto.sync.wait <PIPE_MTE2>, 3"
    given = np.zeros((16, 16), np.float32)
    fits = pto.loads(kernel("\n".join([sent] * 15), "\n".join([awaited] * 15)))
    fits.run(given, target="a2a3", engine=engine, blocks=blocks)
    program = pto.loads(kernel("\n".join([sent] * 16), "\n".join([awaited] * 16)))
    program.run(given, target="a5", engine=engine, blocks=blocks)
    with pytest.raises(pto.PtoError, match=r"signal 3 of .* 15 times") as raised:
        program.run(given, target="a2a3", engine=engine, blocks=blocks)
    assert raised.value.diagnostics[0].slug == "signal-overflow"
    found = program.races("a2a3")
    assert [one.slug for one in found if one.is_error] == ["signal-overflow"]
