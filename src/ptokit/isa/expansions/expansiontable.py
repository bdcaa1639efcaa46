"""The expansion of each page that has one."""

from __future__ import annotations

from ptokit.isa.expansions.broadcasts import BROADCASTS
from ptokit.isa.expansions.elementwiseloops import ELEMENTWISE
from ptokit.isa.expansions.expansionlanguage import Expansion
from ptokit.isa.expansions.reductions import REDUCTIONS
from ptokit.isa.lang.instr import Instr
from ptokit.isa.pages import broadcast, partial, reduction
from ptokit.isa.pages.elementwise import binary, withscalar

EXPANSIONS: dict[type[Instr], Expansion] = {**ELEMENTWISE, **REDUCTIONS, **BROADCASTS}

# pages that take or skip a NaN where their expansion gives one, or the other way round
DIFFERING: dict[type[Instr], str] = {
    **dict.fromkeys((binary.TMax, binary.TMin, withscalar.TMaxS, withscalar.TMinS), "V9"),
    **dict.fromkeys((reduction.TRowMax, reduction.TRowMin), "V9"),
    **dict.fromkeys((reduction.TColMax, reduction.TColMin), "V9"),
    **dict.fromkeys((broadcast.TRowExpandMax, broadcast.TRowExpandMin), "V9"),
    **dict.fromkeys((broadcast.TColExpandMax, broadcast.TColExpandMin), "V9"),
    **dict.fromkeys((partial.TPartMax, partial.TPartMin), "V9"),
    **dict.fromkeys((withscalar.TLRelu, binary.TPRelu), "V9"),
}
