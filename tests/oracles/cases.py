"""What is tried of a page by the kind of its meaning; a page without one is told what to write."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from engines import drawn, worded

import ptokit as pto
from fuzz.scale import sampled, scaled
from oracles import (
    cores,
    effectless,
    elementwise,
    feature_maps,
    gathering,
    handles,
    movement,
    numbers,
    ordering,
    products,
    quantisation,
    ranks,
    scalars_and_control,
    transfers,
    vectors,
)
from oracles.harness import complaints
from oracles.registry import MEANINGS, NoData, Numbers, Program
from oracles.scalarcases import check_numbers
from ptokit.isa.lang.instr import Instr, Role
from ptokit.isa.model.types import Kind

# imported for what they say
SAID = (
    cores,
    effectless,
    handles,
    elementwise,
    feature_maps,
    gathering,
    movement,
    numbers,
    ordering,
    products,
    quantisation,
    ranks,
    scalars_and_control,
    transfers,
    vectors,
)

# oracles are asked about every case; native code is made for the first few
CASES, COMPILED = scaled(4), scaled(1)
HERE = Path("tests") / "oracles"


def check(page: type[Instr]) -> None:
    """Fails where an engine does otherwise than the oracle, and where there is none."""
    what = MEANINGS.get(page.__name__)
    if what is None:
        pytest.fail(missing(page))
    elif isinstance(what, NoData):
        check_no_data(page)
    elif isinstance(what, Numbers):
        check_numbers(page, what, engines(page))
    elif isinstance(what, Program):
        check_program(what, engines(page))
    else:
        check_cases(page)


def engines(page: type[Instr]) -> tuple[str, ...]:
    """Both for every third page that programs show; for others the reference, of the same body."""
    shown = [name for name, what in MEANINGS.items() if isinstance(what, Numbers | Program)]
    return ("reference", "native") if page.__name__ in sampled(shown, 3) else ("reference",)


def missing(page: type[Instr]) -> str:
    """What to write, and where."""
    name, tiles = page.__name__, [o.name for o in page.operands]
    if not page.executes:
        return (
            f"{name} has no meaning. Say in {HERE / 'scalars_and_control.py'} what a program with "
            f"it gives: say({name!r}, Program(text, outputs, arguments)), or for numbers "
            f"{name}=lambda a, b: ... in its table."
        )
    return (
        f"{name} has no meaning: a body that does something else would pass every other law. Say "
        f"in {HERE}, from the documents and not from the body, what the output holds: a line "
        f"`{name}=lambda a, b: ...` in `binary` of vectors.py, or a function "
        f"`@meaning({name!r}) def ...({', '.join(tiles)})` beside its kin (registry.py says how)."
    )


def check_no_data(page: type[Instr]) -> None:
    """What orders others takes no tile and no array, writes none, and defines nothing."""
    data = [o.name for o in page.operands if o.kind not in (Kind.INDEX, Kind.ANY)]
    data += [o.name for o in page.operands if o.written or o.role is Role.RESULT]
    assert not data, f"{page.__name__} has data ({', '.join(data)}): NoData is not its meaning"


def check_cases(page: type[Instr]) -> None:
    """Random legal operands: both engines and the oracle."""
    compared = 0
    for number in range(CASES):
        case = drawn(page, number)
        found = complaints(case, compiled=number < COMPILED)
        assert not found, "\n".join([*found, str(case)])
        compared += found is not None
    for case in worded(page):
        found = complaints(case, compiled=False)
        assert not found, "\n".join([*found, str(case)])
    assert compared, f"{page.__name__}: no case was compared"


def check_program(what: Program, engines: Sequence[str]) -> None:
    """The outputs of a program in these engines."""
    for engine in engines:
        done = pto.loads(what.text).execute(
            deepcopy(what.arguments), engine=engine, blocks=what.blocks, ranks=what.ranks
        )
        outputs = {n: np.asarray(done.outputs[n]).tolist() for n in what.outputs}
        assert outputs == dict(what.outputs), f"{engine}\n{what.text}"
