"""Blocks: which of the cores of a launch a program runs on.

Every block runs the same function on the same global memory, with memories, registers and flags of
its own. A kernel of both kinds of cores
has two vector cores in each block, or one where it shares no entry of its pipes between two.
"""

import re

from ptokit.isa.lang.instr import PAGES
from ptokit.isa.lang.page import *

LARGEST_GRID = 65535  # a launch's block count has 16 bits


class Query(Instr, abstract=True, uses=(CORE,), pipe=S):
    """A number known when the program is launched: `fact` of the core's place."""

    fact: ClassVar[str]
    result = Result(Scalar, scalar="i64", also="i32")
    example = "%number = NAME"

    @classmethod
    def run(cls, core: object) -> int:
        return getattr(core, cls.fact)


def asking(function: str) -> Asm:
    """C++ calls a function without arguments."""
    return Asm(cpp_text=f"const {{type}} {{result}} = {function}();")


class GetBlockIdx(Query, name="get_block_idx", fact="block_idx", asm=asking("get_block_idx")):
    """The number of this block, counted from 0."""


class GetBlockNum(Query, name="get_block_num", fact="block_num", asm=asking("get_block_num")):
    """How many blocks were launched."""


class OfLane(Query, abstract=True, traits=(BY_LANE,)):
    """A number about the vector cores of the block."""


class GetSubblockIdx(
    OfLane, name="get_subblock_idx", fact="subblock_idx", asm=asking("get_subblockid")
):
    """The number of this vector core within its block; of the cube 0."""


class GetSubblockNum(
    OfLane, name="get_subblock_num", fact="subblock_num", asm=asking("get_subblockdim")
):
    """How many vector cores the block has."""


FACT = re.compile(r"(?:^|[^a-z0-9])(?P<sub>sub_?)?block_(?P<what>idx|id|num)$")


def launch_query(name: str) -> type[Query] | None:
    """The page that gives what the launch passes in an argument of this name; None: nothing.

    Front ends add such arguments in the place of queries: `__pypto_spmd_block_idx`.
    """
    found = FACT.search(name.lower())
    if found is None:
        return None
    fact = f"{'sub' if found['sub'] else ''}block_{'num' if found['what'] == 'num' else 'idx'}"
    queries = (page for page in PAGES if issubclass(page, Query) and page.fact == fact)
    return next(queries, None)
