"""The expansion of each page that has one."""

from __future__ import annotations

from ptokit.isa.expansions.broadcasts import BROADCASTS
from ptokit.isa.expansions.elementwiseloops import ELEMENTWISE
from ptokit.isa.expansions.expansionlanguage import Expansion
from ptokit.isa.expansions.reductions import REDUCTIONS
from ptokit.isa.lang.instr import Instr

EXPANSIONS: dict[type[Instr], Expansion] = {**ELEMENTWISE, **REDUCTIONS, **BROADCASTS}
