"""`@pto.vector`: a function on registers and masks, which kernels call with tiles and numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, update_wrapper
from typing import ParamSpec

from ptokit.api.kernel.callplaces import refused
from ptokit.api.kernel.kernel import inline
from ptokit.api.kernel.laneforms import inside
from ptokit.api.kernel.recorder import Recorder
from ptokit.diagnostics.callsite import door
from ptokit.ir.module import Block
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import REGIONS
from ptokit.isa.model.words import VECTOR, Pipe
from ptokit.launch.settings import recording

P = ParamSpec("P")


def vector(function: Callable[P, None]) -> Callable[P, None]:
    """Make a vector function: its instructions are those of `pto.lanes`, on registers and masks.

    A kernel calls it with tiles and numbers; it returns nothing. Loops over `pto.range` carry
    registers as they carry numbers.
    """
    body = inline(function)

    @door
    def call(*args: P.args, **names: P.kwargs) -> None:
        name, record, block = function.__name__, recording.get(), Block()
        if inside:
            what = f"the vector function {name} is called in {inside[-1]}"
            help = "call a plain function, or one marked @pto.inline"
            raise refused("vector-function", what, help)
        inside.append(name)
        if isinstance(record, Recorder):
            record.stack.append(block)
        try:
            found: object = body(*args, **names)
        finally:
            inside.pop()
            if isinstance(record, Recorder):
                record.stack.pop()
        if found is not None:
            what = f"the vector function {name} returns a value"
            help = "store registers in a tile that the kernel passes"
            raise refused("vector-function", what, help)
        if isinstance(record, Recorder):
            record.emit(_scope(), {}, regions=[block])

    return update_wrapper(call, function)


@cache
def _scope() -> type[Instr]:
    """Return the page whose region is a vector function."""
    found = (p for p in pages() if p.asm.shape == "section" and p.pipe is Pipe.V)
    return next(p for p in found if p.core is VECTOR and REGIONS in p.uses)
