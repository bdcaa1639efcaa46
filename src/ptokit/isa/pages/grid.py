"""Blocks: the ids of the core and the block on which a program runs.

Every block runs the same function on the same global memory, with its own on-chip memories,
registers and flags. A kernel of both kinds of core has two vector cores in each block, or one if it
splits no FIFO entry between two.
"""

import re

from ptokit.isa.lang.instr import PAGES
from ptokit.isa.lang.page import *

LARGEST_GRID = 65535  # a launch's block count has 16 bits


class Query(Instr, abstract=True, uses=(CORE,), pipe=S):
    """A number known at launch: property `fact` of the core."""

    fact: ClassVar[str]
    result = Result(Scalar, scalar="i64", also="i32")
    example = "%number = NAME"

    def run(cls, core):
        return getattr(core, cls.fact)


def asking(function: str) -> Asm:
    """Return the Asm of a C++ call without arguments."""
    return Asm(cpp_text=f"const {{type}} {{result}} = {function}();")


class GetBlockIdx(Query, name="get_block_idx", fact="block_idx", asm=asking("get_block_idx")):
    """The number of this block, counted from 0."""


class GetBlockNum(Query, name="get_block_num", fact="block_num", asm=asking("get_block_num")):
    """The number of launched blocks."""


class OfLane(Query, abstract=True, traits=(BY_LANE,)):
    """A number about the vector cores of the block."""


class GetSubblockIdx(
    OfLane, name="get_subblock_idx", fact="subblock_idx", asm=asking("get_subblockid")
):
    """The number of this vector core within its block; 0 for the cube core."""


class GetSubblockNum(
    OfLane, name="get_subblock_num", fact="subblock_num", asm=asking("get_subblockdim")
):
    """The number of vector cores of the block."""


FACT = re.compile(r"(?:^|[^a-z0-9])(?P<sub>sub_?)?block_(?P<what>idx|id|num)$")


def launch_query(name: str) -> type[Query] | None:
    """Return the page that gives the value of an argument with this name, or None.

    Front ends add such arguments instead of queries: `__pypto_spmd_block_idx`.
    """
    found = FACT.search(name.lower())
    if found is None:
        return None
    fact = f"{'sub' if found['sub'] else ''}block_{'num' if found['what'] == 'num' else 'idx'}"
    queries = (page for page in PAGES if issubclass(page, Query) and page.fact == fact)
    return next(queries, None)
