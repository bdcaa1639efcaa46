"""The law of lowering: registers do what NumPy says of logical vectors in whose place they are."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from logicalcases import CASES, ROOM, Case
from test_logical import STEP, given, program, wrong

import ptokit as pto
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes
from ptokit.text.write.printer import print_module

# how statements begin that have no lowering, with the elements of their vectors
REFUSED = {
    "vabs %x, %m": "bf16",
    "vexpdif %x, %y, %m": "f16",
    'vcmp %x, %y, %m {cmp = "one"}': "f32",
    "create_group_mask %two {num_groups = 8, group_size = 12}": "f32",
    "vbrc %g {group = 8}": "f32 bf16 si32 i32",
    "vcadd %x, %m {group = 1, reassoc}": "bf16 ui8",
    "vcadd %x, %m {group = 4, reassoc}": "f32 bf16 si32 i32 ui8",
    "vcadd %x, %m {group = 8, reassoc}": "f32 bf16 si32 i32 ui8",
    "vcmax %x, %m {group = 8}": "f32 si32 i32",
    "vcmin %x, %m {group = 8}": "f32 si32 i32",
    'pset "PAT_VL8"': "f32",
    "constant_mask {value = ": "f32",
    "vselr %x, %few": "si32 i32",
    "vaddc %x, %y, %m": "i32 si32",
    "vaddcs %x, %y, %k, %m": "i32",
    "vmull %x, %y, %m": "i32",
    "vintlv %x, %y, %m": "f32 bf16 si32 i32",
    "vdintlv %x, %y, %m": "f32 bf16 si32 i32",
    "vdhist %bins, %x, %m": "ui8",
    "vchist %bins, %x, %m": "ui8",
    'vload %p[%c0] {dist_mode = "unpack"}': "f16 ui8",
    "vload %p[%c0], %blocks": "f32 si16",
    "vgatherb %p, %lines, %m": "f32",
    "vstore %x, %to[%c0], %twenty {group = 8}": "f32",
    "vstore %x, %to[%c0], %blocks, %m": "f32",
    "vsstb %x, %to[%c0], %blocks, %m": "f32",
    "vscatter %x, %to, %j, %m": "f32",
    "vstore %g, %bytes[%c0], %two {group = 8}": "i32",
}


def lowered(cases: list[Case]) -> str:
    """The text of the program of some cases after the pass."""
    module = run_passes(pto.loads(program(cases)).module, ["lower-vmi"], TARGETS["a5"])
    return print_module(module)


@cache
def refused() -> tuple[int, ...]:
    """The numbers of the cases that the pass names; their results have them."""
    lines = program(CASES).splitlines()
    with pytest.raises(PtoError) as raised:
        lowered(CASES)
    spans = [d.span for d in raised.value.diagnostics if d.span is not None]
    named = (re.search(r"%(?:r|to|bytes)(\d+)", lines[span.line - 1]) for span in spans)
    return tuple(int(match[1]) for match in named if match is not None)


def test_each_case_is_lowered_or_named() -> None:
    found = [CASES[number] for number in refused()]
    listed = [(text, kind) for text, kinds in REFUSED.items() for kind in kinds.split()]
    assert len(found) == len(listed)
    for one, (text, kind) in zip(found, listed, strict=True):
        assert (one.statement.startswith(text), one.kind) == (True, kind), one


def test_registers_do_what_numpy_says() -> None:
    cases = [one for number, one in enumerate(CASES) if number not in refused()]
    bad = list[str]()
    for first in range(0, len(cases), STEP):
        some = cases[first : first + STEP]
        room = np.zeros(2 * ROOM * len(some), np.uint8)
        text = lowered(some)
        assert ".vmi." not in text
        done: Program = pto.loads(text)
        after = done.run(target="a5", engine="reference", a=given()[0], b=room, c=room)["c"]
        parts = zip(some, after.reshape(len(some), 2 * ROOM), strict=True)
        bad += [f"{one.kind}: {one.statement}" for one, part in parts if wrong(one, part)]
    assert not bad
