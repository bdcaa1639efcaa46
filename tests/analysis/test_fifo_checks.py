"""Rules of FIFOs that concern a whole function or both ends: each broken by one program."""

from __future__ import annotations

import pytest

import ptokit as pto
from every import every

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

FILLS = (
    "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, id = 0} (c2v_consumer_buf = %a : i32)"
)


def kernel(*lines: str, kind: str = VECTOR, name: str = "v") -> str:
    return "\n".join((f"func.func @{name}() {kind} {{", *lines, "return", "}"))


def one(n: int, number: int | None = None, more: str = "") -> tuple[str, ...]:
    """A buffer and a FIFO on it, whose entries are popped."""
    number = n if number is None else number
    opened = OPENED.format(n=n, id=number, more=more)
    return BUFFER.format(n=n), opened, POP.format(n=n)


def imported(name: str = "v", label: str = "f0") -> str:
    return f'pto.import_reserved_buffer {{name = "{label}", peer_func = @{name}}} -> i32'


CASES = {
    "another FIFO has this id": kernel(*one(0), *one(1, number=0)[:2]),
    "use 18 flags, a core has 16": kernel(*(line for n in range(9) for line in one(n))),
    "no function @elsewhere": kernel(f"%a = {imported('elsewhere')}", kind=CUBE),
    "is imported twice": "\n".join(
        (
            kernel(*one(0)),
            kernel(f"%a = {imported()}", f"%b = {imported()}", FILLS, kind=CUBE, name="c"),
        )
    ),
    "another FIFO uses the same buffer": kernel(*one(0), OPENED.format(n=0, id=1, more="")),
    "@v opens no FIFO on 'f0'": "\n".join(
        (kernel(BUFFER.format(n=0)), kernel(f"%a = {imported()}", FILLS, kind=CUBE, name="c"))
    ),
    "@c imports 'f0' but opens no FIFO on it": "\n".join(
        (kernel(*one(0)), kernel(f"%a = {imported()}", kind=CUBE, name="c"))
    ),
    "nosplit is false, but every split is 0": kernel(*one(0, more=", nosplit = false")),
    "converted entries are never popped": kernel(
        *one(
            0,
            more=", nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, "
            "quant = no_convert, relu = no_relu>",
        )[:2]
    ),
}


SLOT, HALF = "!pto.tensor_view<16x16xf32>", "!pto.tensor_view<16x8xf32>"
ACC = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"


def through_memory(*uses: str, opened: str = "(gm_slot_tensor = %s : {})") -> str:
    """A cube's pipe to the vector cores with slots in global memory, and what is done with it."""
    lines = f"pto.aic_initialize_pipe {{dir_mask = 1, slot_size = 1024}} {opened.format(SLOT)}"
    return kernel(lines, *uses, kind=CUBE).replace("@v()", f"@v(%s: {SLOT}, %b: i32)")


def of_handle(more: str, buffer: str = "") -> str:
    """A FIFO with a handle and where its slots are."""
    opened = (
        f"%q = pto.initialize_l2l_pipe {{dir_mask = 1, slot_size = 8, slot_num = 2{more}}} "
        "(%b : i32) -> !pto.pipe"
    )
    given = "" if buffer else "%b: i32"
    return kernel(buffer, opened, kind="").replace("@v()", f"@v({given})")


def converted(quant: str, *before: str, dtype: str = "f32") -> str:
    """A push to a FIFO whose epilogue converts."""
    epilogue = f"#pto.acc_push_epilogue<layout = nz2nd, quant = {quant}, relu = no_relu>"
    more = f", nosplit = true, acc_push_epilogue = {epilogue}"
    tile = ACC.replace("f32", dtype)
    push = f"pto.tpush_to_aiv(%t : {tile}) {{split = 0}}"
    cube = kernel(
        f"%b0 = {imported()}",
        OPENED.format(n=0, id=0, more=more).replace("aiv", "aic"),
        *(*before, push),
        kind=CUBE,
        name="c",
    )
    made = {"no_convert": "f32", "f32f16": "f16", "f32_f16": "f16"}.get(quant, "i8")
    shape = "16x16" if made == "f32" else "16x32"
    vector = kernel(*one(0, more=more)).replace("16x16xf32", f"{shape}x{made}")
    return f"{vector}\n" + cube.replace("@c()", f"@c(%t: {tile}, %x: f32)")


SET = "pto.set_quant_scalar %x : f32"
SCALED = "pto.set_quant_scalar(%x : f32) {id = 1}"
ALLOCATE = "%e = pto.talloc_to_aiv {split = 0} -> "
OF_ENTRIES = {
    "the entry is global f32 16x8, but a slot is": through_memory(ALLOCATE + HALF),
    "no slots in global memory": through_memory(
        ALLOCATE + SLOT, opened="(c2v_consumer_buf = %b : i32)"
    ),
    "neither a reserved buffer nor flags": of_handle(""),
    "is i32, but f32f16 takes f32": converted("f32f16", dtype="i32"),
    "is f32, but f32f16 gives f16": converted("f32f16").replace("16x32xf16>", "16x16xf32>"),
    "the epilogue of the FIFO gives vec tiles in nd": converted("f32f16").replace(
        "xf16>", "xf16, blayout=col_major>"
    ),
    "f16 16x32 nd, but another one": converted("f32f16").replace(
        "%t0 =", POP.format(n=0).replace("%t0", "%u").replace("16x16xf32", "16x16xf16") + "\n%t0 ="
    ),
    "the slots of the epilogue are in no reserved buffer": converted("f32f16").replace(
        f"%b0 = {imported()}", "%b0 = arith.constant 0 : i32"
    ),
    "i32 is pushed, but f32 is popped": converted("no_convert", dtype="i32"),
    "qf322b8_pre_scalar needs a scalar": converted("qf322b8_pre_scalar"),
    "req8_vec needs a vector": converted("req8_vec", dtype="i32"),
    "with id = 0": converted("req8_scalar", dtype="i32"),
    "no FIFO with id 1": converted("qf322b8_pre_scalar", SET, SCALED),
    "the epilogue of the FIFO takes no scalar": converted("f32f16", SET),
    "slot_size is 1024, but the entry has 2048 bytes": converted("f32f16").replace(
        "16x32xf16>", "16x64xf16>"
    ),
    "@v opens no FIFO on 'f0'": "\n".join(
        line for line in converted("no_convert").splitlines() if "aiv_i" not in line
    ).replace(POP.format(n=0), ""),
}
ODD, TALLER = ACC.replace(">", ", valid=15x16>"), "!pto.tile_buf<vec, 8x16xf32, valid=?x?>"
LOCAL = "(c2v_consumer_buf = %b : i32)"
IN_MEMORY = LOCAL.replace("(", "(gm_slot_tensor = %s : {}, ")


def shared(split: int, tile: str, opened: str = IN_MEMORY) -> str:
    """A cube's push of an entry that both vector cores have parts of."""
    push = f"pto.tpush_to_aiv(%t : {tile}) {{split = {split}}}"
    return through_memory(push, opened=opened).replace("%b: i32", f"%b: i32, %t: {tile}")


OF_SHARED = {
    "split is 3, but the FIFO has no slots": shared(3, ODD, LOCAL),
    "split is 4, but the entry is a view": through_memory(ALLOCATE.replace("0", "4") + SLOT),
}
BACKED = "(gm_slot_tensor = %s : {}, v2c_consumer_buf = %b : i32)"
MORE_SHARED = {
    "the entry has 2048 bytes, but a slot has 1024": kernel(*one(0)).replace("16x16", "16x32"),
    "slot_size is 1000, but the slot tensor has 1024": through_memory().replace("= 1024", "= 1000"),
    "'f0' is reserved twice": kernel(BUFFER.format(n=0), BUFFER.format(n=0).replace("%b", "%c")),
}
UNEVEN = {
    "shape": [shared(1, ODD), shared(3, ACC), shared(4, ODD)],
    "dynamic-valid": [
        shared(3, ODD)
        .replace("cube", "vector")
        .replace("aic", "aiv")
        .replace(f"pto.tpush_to_aiv(%t : {ODD}) {{split = 3}}", f"{POPPED} -> {TALLER}")
        for POPPED in ("%u = pto.tpop_from_aic {split = 3}",)
    ],
}
RIGHT = [
    shared(3, ODD),
    shared(1, ACC),
    shared(2, ACC),
    shared(2, ODD),
    shared(3, ACC.replace(">", ", valid=?x16>")),
    through_memory(ALLOCATE + SLOT),
    through_memory(ALLOCATE.replace("0", "1") + SLOT).replace("= 1024", "= 2048"),
    through_memory(ALLOCATE + SLOT.replace("16x16", "?x16")),
    of_handle(", flag_base = 0"),
    of_handle("", BUFFER.format(n="")),
    converted("f32f16"),
    converted("f32_f16"),
    converted("no_convert"),
    converted("qf322b8_pre_scalar", SET),
]


@every("text", RIGHT)
def test_what_goes_through_a_pipe_is_as_it_says(text: str) -> None:
    assert [d.message for d in pto.loads(text).check("a5") if d.slug == "fifo-mismatch"] == []


@every(
    ("message", "text"),
    [*CASES.items(), *OF_ENTRIES.items(), *OF_SHARED.items(), *MORE_SHARED.items()],
)
def test_a_rule_of_pipes(message: str, text: str) -> None:
    found = [d for d in pto.loads(text).check("a5") if d.slug == "fifo-mismatch"]
    assert len(found) == 1
    assert message in f"{found[0].message}; {found[0].help}"


@every(("slug", "text"), [(s, t) for s, ts in UNEVEN.items() for t in ts])
def test_lines_of_shared_entries(slug: str, text: str) -> None:
    """Halves are of an even number of lines; with a remainder each part says how many it has."""
    for target in ("a2a3", "a5"):
        assert {d.slug for d in pto.loads(text).check(target) if d.is_error} == {slug}


@every("columns", [1 << 14, 1 << 33, 1 << 59])
def test_what_is_popped_fits_the_memory(columns: int) -> None:
    text = kernel(*one(0)).replace("16x16", f"16x{columns}")
    text = text.replace("@v()", "@v(%s: !pto.ptr<f32>)")
    text = text.replace("(c2v", "(gm_slot_buffer = %s : !pto.ptr<f32>, c2v")
    found = [d for d in pto.loads(text).check("all") if d.is_error]
    assert {d.slug for d in found} == {"out-of-memory"}
    with pytest.raises(pto.PtoError, match=r"\[out-of-memory\]"):
        pto.loads(text).run(target="a2a3")


def test_only_what_the_cube_pushes_is_backed_on_a5() -> None:
    text = through_memory(opened=BACKED).replace("dir_mask = 1", "dir_mask = 2")
    found = {t: {d.slug for d in pto.loads(text).check(t) if d.is_error} for t in ("a2a3", "a5")}
    assert found == {"a2a3": set(), "a5": {"attribute"}}
    other = text.replace("dir_mask = 2", "dir_mask = 1")
    assert {d.slug for d in pto.loads(other).check("a2a3") if d.is_error} == {"attribute"}


def test_a5_shares_with_a_remainder_what_the_cube_pushes() -> None:
    tile = "!pto.tile_buf<vec, 8x16xf32>"
    text = shared(3, tile).replace("cube", "vector").replace("to_aiv", "to_aic")
    text = (
        text.replace("aic_init", "aiv_init")
        .replace("c2v", "v2c")
        .replace("dir_mask = 1", "dir_mask = 2")
    )
    found = {t: {d.slug for d in pto.loads(text).check(t) if d.is_error} for t in ("a2a3", "a5")}
    assert found == {"a2a3": set(), "a5": {"attribute"}}


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
    assert [d.message for d in program.check("all") if d.slug == "fifo-mismatch"] == []


def sibling(*parts: str) -> str:
    return "\n".join(f"module {{\n{part}\n}}" for part in parts)


USER = kernel(f"%a = {imported()}", FILLS, kind=CUBE, name="c")
OWNER = kernel(*one(0))
HIDDEN = OWNER.replace("func.func @", "func.func private @")
FOUND = {
    "beside it": sibling(f"{USER}\n{OWNER}"),
    "beside it, private": sibling(f"{USER}\n{HIDDEN}"),
    "in another module": sibling(USER, OWNER),
    "beside it, another elsewhere": sibling(f"{USER}\n{OWNER}", OWNER),
    "declared beside it": sibling(f"{USER}\nfunc.func private @v()", OWNER),
}
NOT_FOUND = {
    "several modules define @v": sibling(USER, OWNER, OWNER),
    "no function @v": sibling(USER, HIDDEN),
}


@every("where", FOUND)
def test_a_peer_is_the_function_that_the_name_means(where: str) -> None:
    assert "fifo-mismatch" not in {d.slug for d in pto.loads(FOUND[where]).check("a5")}


@pytest.mark.parametrize("message", NOT_FOUND)
def test_a_peer_that_nobody_can_tell_is_refused(message: str) -> None:
    found = pto.loads(NOT_FOUND[message]).check("a5")
    assert any(message in d.message for d in found)
