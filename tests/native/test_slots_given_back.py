"""FIFOs that are used wrongly: slots given back too often, entries left in them, unlike ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from native.outcomes import refused
from native.pipekernel import BACK, FREE, HEAD, POP, PUSH, TAKE, kernel, repeated

TILES = {
    "before the first pop": kernel(repeated(PUSH), f"{FREE}\n{repeated(POP)}"),
    "twice each": kernel(repeated(PUSH), repeated(POP, FREE, FREE)),
    "once more at the end": kernel(PUSH, f"{POP}\n{FREE}\n{FREE}"),
}
ALLOC = "pto.talloc(%e, %line : !V, !pto.pipe) {split = 0}"
COMMIT = "pto.tpush(%e, %line : !V, !pto.pipe) {split = 0}"
STORE = "pto.tstore ins(%t : !T) outs(%e : !V)"
RECEIVE = "pto.tpop(%e, %line : !V, !pto.pipe) {split = 0}"
LOAD = "pto.tload ins(%e : !V) outs(%m : !M)"
RETURN = "pto.tfree(%e, %line : !V, !pto.pipe) {split = 0}"
FILLED = repeated(ALLOC, STORE, COMMIT)


def of_views(vector: str, cube: str) -> str:
    """A kernel whose entries lie in global memory."""
    head = HEAD[: HEAD.index("  %up =")].replace("(%x", "(%room: !pto.ptr<f32>, %x")
    return f"""{head}
  %slots = pto.make_tensor_view %room, shape = [%c16, %c16], strides = [%c16, %c1] : !V
  %line = pto.initialize_l2g2l_pipe {{dir_mask = 2, slot_size = 1024, slot_num = 2}} \
(%slots : !V) -> !pto.pipe
  pto.section.vector {{
    %t = pto.alloc_tile : !T
    pto.tload ins(%v : !V) outs(%t : !T)
    %e = pto.declare_global -> !V
    {vector}
  }}
  pto.section.cube {{
    %m = pto.alloc_tile : !M
    %e = pto.declare_global -> !V
    {cube}
  }}
  return
}}"""


VIEWS = {
    "given back before the pop": of_views(FILLED, f"{RETURN}\n{repeated(RECEIVE, LOAD)}"),
    "given back twice": of_views(FILLED, repeated(RECEIVE, LOAD, RETURN, RETURN)),
    "pushed, which nobody allocated": of_views(repeated(COMMIT), ""),
}


def said(text: str, target: str, **arrays: Any) -> pto.Diagnostic:
    return refused(text, {"x": np.ones((16, 16), np.float32), **arrays}, target=target)


def line(found: pto.Diagnostic) -> str:
    """The line that it is about."""
    assert found.span is not None
    return found.span.source.text.splitlines()[found.span.line - 1].strip()


@pytest.mark.parametrize("target", ["cpu", "a5"])
@pytest.mark.parametrize("name", TILES)
def test_a_slot_is_given_back_after_a_pop_and_once(name: str, target: str) -> None:
    found = said(TILES[name], target)
    assert (found.slug, line(found)) == ("fifo-mismatch", FREE)


@every("name", TILES)
def test_where_pops_give_slots_back_a_free_does_nothing(name: str, engine: str) -> None:
    pto.loads(TILES[name]).compile(target="a2a3", engine=engine).run(np.ones((16, 16), np.float32))


@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_slot_in_global_memory_has_one_owner(name: str, target: str) -> None:
    found = said(VIEWS[name], target, room=np.zeros(512, np.float32))
    assert found.slug == "fifo-mismatch"
    assert line(found) in (RETURN, COMMIT)


@pytest.mark.parametrize("name", [STORE, LOAD])
def test_a_view_has_no_place_before_a_pipe_gives_it_one(name: str) -> None:
    """Compiled code wrote over its own numbers."""
    text = of_views(STORE, "") if name == STORE else of_views("", LOAD)
    found = said(text, "a5", room=np.zeros(512, np.float32))
    assert (found.slug, line(found)) == ("fifo-mismatch", name)


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


TILE, VIEW = "!pto.tile_buf<vec, 16x16xf32>", "!pto.tensor_view<16x16xf32>"
OPENED = "pto.aiv_initialize_pipe {dir_mask = MASK, slot_size = SIZE} \
(c2v_consumer_buf = 0 : i32, v2c_consumer_buf = 0 : i32)"
PUSHED = f"pto.tpush_to_aic(%t : {TILE}) {{split = 0}}"


def of_vector(*lines: str, mask: int = 2, size: int = 1024) -> str:
    """A vector function with a filled tile %t and these statements."""
    body = "\n  ".join(lines).replace("MASK", str(mask)).replace("SIZE", str(size))
    return f"""\
func.func @v(%y: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %t = pto.alloc_tile : {TILE}
  pto.texpands ins(1.0 : f32) outs(%t : {TILE})
  {body}
  return
}}"""


NO_END = {
    "no such pipe": (of_vector(PUSHED), "no FIFO with id 0"),
    "another direction": (of_vector(OPENED, PUSHED, mask=1), "wrong direction"),
    "no place": (
        of_vector(OPENED, f"%e = pto.talloc_to_aic {{split = 0}} -> {VIEW}"),
        "no slots in global memory",
    ),
    "opened twice": (of_vector(OPENED, OPENED), "another FIFO has this id"),
    "larger than a slot": (
        of_vector(OPENED, PUSHED, size=512),
        "larger than a slot",
    ),
}


@every(("text", "words"), NO_END.values(), ids=NO_END.keys())
def test_ends_of_a_pipe_that_do_not_fit(text: str, words: str) -> None:
    found = refused(text, {"y": np.zeros(256, np.float32)})
    assert (found.slug, found.span is not None) == ("fifo-mismatch", True)
    assert words in found.render()
