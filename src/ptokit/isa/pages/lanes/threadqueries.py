"""Queries of a thread: its numbers, its lane, and the extents of its launch."""

from ptokit.isa.lang.localmemory import Quantity, Thread
from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes import threadnumbers as numbers
from ptokit.isa.pages.lanes.lanefamilies import Below


def by_threads(*statements: str) -> str:
    """Return a program of 32 threads: statements on %dst, an array, and %i, their number."""
    return f"""\
func.func private @threads(%dst: !pto.ptr<i32>) attributes {{pto.simt_entry}} {{
  %c1 = arith.constant 1 : i32
  %tid = pto.get_tid_x : i32
  %i = arith.index_castui %tid : i32 to index
{"".join(f"  {statement}{chr(10)}" for statement in statements)}\
  return
}}
func.func @example(%dst: !pto.ptr<i32>) {{
  %x = arith.constant 32 : i32
  %y = arith.constant 1 : i32
  pto.simt_launch @threads<<<%x, %y, %y>>>(%dst) : (!pto.ptr<i32>) -> ()
  return
}}"""


STORED = "pto.store_scalar %r, %dst[%i] : !pto.ptr<i32>, i32"


class OfThread(Below, abstract=True):
    """An instruction that only the threads of a launch execute."""

    specials = ""


class ThreadQuery(OfThread, abstract=True):
    """A number that a thread asks for."""

    result = Result(Scalar, scalar="i32")
    example = by_threads("%r = NAME : i32", STORED)


class GetTidX(ThreadQuery, name="get_tid_x"):
    """The number of the thread along x."""

    def in_thread(make):
        return numbers.word(make, make.place(0))


class GetTidY(ThreadQuery, name="get_tid_y"):
    """The number of the thread along y."""

    def in_thread(make):
        return numbers.word(make, make.place(1))


class GetTidZ(ThreadQuery, name="get_tid_z"):
    """The number of the thread along z."""

    def in_thread(make):
        return numbers.word(make, make.place(2))


class GetBlockDimX(ThreadQuery, name="get_block_dim_x"):
    """The number of threads along x."""

    def in_thread(make):
        return numbers.word(make, make.extent(0))


class GetBlockDimY(ThreadQuery, name="get_block_dim_y"):
    """The number of threads along y."""

    def in_thread(make):
        return numbers.word(make, make.extent(1))


class GetBlockDimZ(ThreadQuery, name="get_block_dim_z"):
    """The number of threads along z."""

    def in_thread(make):
        return numbers.word(make, make.extent(2))


class OfGrid(ThreadQuery, abstract=True, disputes=("V18",)):
    """A number about the grid of a launch, of which a vector function is a single block: 0."""

    def in_thread():
        return 0


class GetGridDimX(OfGrid, name="get_grid_dim_x"):
    """The extent of the grid along x: 0 for a launch in a vector function."""


class GetGridDimY(OfGrid, name="get_grid_dim_y"):
    """The extent of the grid along y: 0 for a launch in a vector function."""


class GetGridDimZ(OfGrid, name="get_grid_dim_z"):
    """The extent of the grid along z: 0 for a launch in a vector function."""


class GetBlockIdxX(OfGrid, name="get_block_idx_x"):
    """The number of the block in the grid along x: 0 for a launch in a vector function."""


class GetBlockIdxY(OfGrid, name="get_block_idx_y"):
    """The number of the block in the grid along y: 0 for a launch in a vector function."""


class GetBlockIdxZ(OfGrid, name="get_block_idx_z"):
    """The number of the block in the grid along z: 0 for a launch in a vector function."""


def own_lane(make: Thread) -> Quantity:
    """Return the lane of the thread as i32."""
    return numbers.word(make, make.lane())


class GetLaneId(ThreadQuery, name="get_laneid"):
    """The lane of the thread: its number x + X * (y + Y * z) modulo 32."""

    def in_thread(make):
        return own_lane(make)


def up_to(make: Thread, past: int) -> Quantity:
    """Return a word with the bits of the lanes before this one, `past` lanes further."""
    wide = numbers.constant(make, 1, I64)
    lane = numbers.cast(make, make.sum(make.lane(), past), I64)
    high = numbers.shifted(make, wide, lane, I64)
    return numbers.low_word(make, numbers.added(make, high, numbers.constant(make, -1, I64), I64))


def others(make: Thread, bits: Quantity) -> Quantity:
    """Return a word with all other bits."""
    return numbers.flipped(make, bits, numbers.constant(make, -1, I32), I32)


class LaneMaskEq(ThreadQuery, name="get_lanemask_eq"):
    """A word in which the bit of the lane is 1."""

    def in_thread(make):
        return numbers.shifted(make, numbers.constant(make, 1, I32), own_lane(make))


class LaneMaskLt(ThreadQuery, name="get_lanemask_lt"):
    """A word in which the bits of lower lanes are 1."""

    def in_thread(make):
        return up_to(make, 0)


class LaneMaskLe(ThreadQuery, name="get_lanemask_le"):
    """A word in which the bits of the lane and of lower lanes are 1."""

    def in_thread(make):
        return up_to(make, 1)


class LaneMaskGe(ThreadQuery, name="get_lanemask_ge"):
    """A word in which the bits of the lane and of higher lanes are 1."""

    def in_thread(make):
        return others(make, up_to(make, 0))


class LaneMaskGt(ThreadQuery, name="get_lanemask_gt"):
    """A word in which the bits of higher lanes are 1."""

    def in_thread(make):
        return others(make, up_to(make, 1))


class GetVecCoreId(Below, name="get_veccoreid", uses=(CORE,), disputes=("V18",)):
    """The number of the vector core among those of the launch."""

    example = by_threads("%r = NAME : i32", STORED)
    result = Result(Scalar, scalar="i32")

    def run(core):
        return core.block_idx * core.subblock_num + core.subblock_idx


class CycleCounter(OfThread, abstract=True, unexecuted="ptokit executes programs without a clock"):
    """A counter of cycles."""

    result = Result(Scalar)


class GetClock32(CycleCounter, name="get_clock32"):
    """The lower 32 bits of the counter of cycles."""

    result = Result(Scalar, scalar="i32")
    example = by_threads("%r = NAME : i32", STORED)


class GetClock64(CycleCounter, name="get_clock64"):
    """The counter of cycles."""

    result = Result(Scalar, scalar="i64")
    example = by_threads("%r = NAME : i64")
