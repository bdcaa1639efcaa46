"""Blocks: which of the cores of a launch a program runs on (spec 4.8).

Every block runs the same function on the same global memory, with memories, registers and flags of
its own. ptokit's cores have no sub-blocks.
"""

from ptokit.isa.lang.page import *

LARGEST_GRID = 65535  # a launch's block count has 16 bits


class LaunchPlace(Protocol):
    """A core as a body sees it: its place in the launch."""

    @property
    def block_idx(self) -> int: ...
    @property
    def block_num(self) -> int: ...
    @property
    def subblock_idx(self) -> int: ...
    @property
    def subblock_num(self) -> int: ...


def asking(function: str) -> Asm:
    """C++ calls a function without arguments."""
    return Asm(cpp_text=f"const {{type}} {{result}} = {function}();")


class Query(Instr, abstract=True, uses=(CORE,), pipe=S):
    """A number known when the program is launched."""

    result = Result(Scalar, scalar="i64")
    example = "%number = NAME"


class GetBlockIdx(Query, name="get_block_idx", asm=asking("get_block_idx")):
    """The number of this block, counted from 0."""

    @staticmethod
    def run(core: LaunchPlace) -> int:
        return core.block_idx


class GetBlockNum(Query, name="get_block_num", asm=asking("get_block_num")):
    """How many blocks were launched."""

    @staticmethod
    def run(core: LaunchPlace) -> int:
        return core.block_num


class GetSubblockIdx(Query, name="get_subblock_idx", asm=asking("get_subblockid")):
    """The number of this vector core within its block."""

    @staticmethod
    def run(core: LaunchPlace) -> int:
        return core.subblock_idx


class GetSubblockNum(Query, name="get_subblock_num", asm=asking("get_subblockdim")):
    """How many vector cores the block has."""

    @staticmethod
    def run(core: LaunchPlace) -> int:
        return core.subblock_num
