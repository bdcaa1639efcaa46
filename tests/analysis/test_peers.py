"""Rules of pipes that concern a whole function or both ends: each broken by one program."""

from __future__ import annotations

import pytest

import ptokit as pto

VECTOR = "attributes {pto.kernel_kind = #pto.kernel_kind<vector>}"
CUBE = VECTOR.replace("vector", "cube")
BUFFER = (
    '%b{n} = pto.reserve_buffer {{name = "f{n}", size = 8192, '
    "location = #pto.address_space<vec>, auto = true}} -> i32"
)
OPENED = (
    "pto.aiv_initialize_pipe {{dir_mask = 1, slot_size = 1024, id = {id}{more}}} "
    "(c2v_consumer_buf = %b{n} : i32)"
)
POP = "%t{n} = pto.tpop_from_aic {{split = 0, id = {n}}} -> !pto.tile_buf<vec, 16x16xf32>"


def kernel(*lines: str, kind: str = VECTOR, name: str = "v") -> str:
    return "\n".join((f"func.func @{name}() {kind} {{", *lines, "return", "}"))


def one(n: int, number: int | None = None, more: str = "") -> tuple[str, ...]:
    """A buffer and a pipe on it, whose entries are popped."""
    number = n if number is None else number
    opened = OPENED.format(n=n, id=number, more=more)
    return BUFFER.format(n=n), opened, POP.format(n=n)


def imported(name: str = "v", label: str = "f0") -> str:
    return f'pto.import_reserved_buffer {{name = "{label}", peer_func = @{name}}} -> i32'


CASES = {
    "another pipe has this id": kernel(*one(0), *one(1, number=0)[:2]),
    "take 18 flags, a core has 16": kernel(*(line for n in range(9) for line in one(n))),
    "no function @elsewhere": kernel(f"%a = {imported('elsewhere')}", kind=CUBE),
    "is imported twice": "\n".join(
        (
            kernel(*one(0)),
            kernel(f"%a = {imported()}", f"%b = {imported()}", kind=CUBE, name="c"),
        )
    ),
    "nothing pops what its epilogue converts": kernel(
        *one(
            0,
            more=", nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, "
            "quant = no_convert, relu = no_relu>",
        )[:2]
    ),
}


@pytest.mark.parametrize(("message", "text"), CASES.items(), ids=CASES)
def test_a_rule_of_pipes(message: str, text: str) -> None:
    found = [d for d in pto.loads(text).check("a5") if d.slug == "pipe"]
    assert len(found) == 1
    assert message in found[0].message


def test_ends_that_agree() -> None:
    push = "pto.tpush_to_aiv(%t : !pto.tile_buf<vec, 16x16xf32>) {split = 0}"
    cube = kernel(
        f"%b0 = {imported()}",
        OPENED.format(n=0, id=0, more="").replace("aiv", "aic"),
        "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>",
        push,
        kind=CUBE,
        name="c",
    )
    program = pto.loads(f"{kernel(*one(0))}\n{cube}")
    assert [d.message for d in program.check("all") if d.slug == "pipe"] == []
