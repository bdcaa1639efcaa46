"""The lowering of each page on logical vectors that has one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ptokit.isa.expansions.expansionlanguage import pages_of
from ptokit.isa.expansions.logicalfolds import apart, extreme, in_turns, looked_up, total
from ptokit.isa.expansions.logicallanes import (
    bitwise,
    constant_masks,
    converted,
    exponential,
    first_lanes,
    first_of_groups,
    histogram,
    in_registers,
    lane_numbers,
    patterns,
    repeated,
    repeated_lane,
    reread,
)
from ptokit.isa.expansions.logicalmemory import (
    gathered,
    gathered_blocks,
    load,
    load_rows,
    scattered,
    store,
    store_rows,
)
from ptokit.isa.expansions.logicalregisters import Lowering
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import Kind

MADE: dict[str, Lowering] = {
    "create_mask": first_lanes,
    "create_group_mask": first_of_groups,
    "pset": patterns,
    "constant_mask": constant_masks,
    "vdhist": histogram,
    "vchist": histogram,
    "vgatherb": gathered_blocks,
    "vscatter": scattered,
    "vsstb": store_rows,
    "vload": load,
    "vstore": store,
    "vci": lane_numbers,
    "vinterpret_cast": reread,
    "vexpdif": exponential,
    "vselr": looked_up,
    "vgather": gathered,
    "vintlv": in_turns,
    "vdintlv": apart,
    "vcadd": total,
    "vcmax": extreme,
    "vcmin": extreme,
    **dict.fromkeys(("vand", "vor", "vxor", "vnot"), bitwise),
    **dict.fromkeys(("vcvt", "extf", "truncf", "extsi", "extui", "trunci"), converted),
    **dict.fromkeys(("fptosi", "fptoui", "sitofp"), converted),
}


@cache
def lowerings() -> Mapping[type[Instr], Lowering]:
    """Return the lowering of each page on logical vectors that has one."""
    found: dict[type[Instr], Lowering] = {}
    for page in pages():
        name = page.name.removeprefix("vmi.")
        if not (page.below and page.name != name):
            continue
        kinds = [o.kind for o in page.operands]
        if page.form == "by rows":
            found[page] = load_rows if page.outs()[0].kind is Kind.LOGICAL else store_rows
        elif name in MADE and not page.form:
            found[page] = MADE[name]
        elif name == "vbrc":
            found[page] = repeated_lane if page.form else repeated
        elif set(kinds) <= {Kind.LOGICAL, Kind.SCALAR}:
            same = [p for p in pages_of(name) if len(p.ins()) == len(page.ins())]
            if same:
                found[page] = in_registers
    return found
