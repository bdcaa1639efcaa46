"""Caches and fences: instructions that make global memory coherent between cores.

ptokit simulates no cache content: no data depends on these instructions, only their operands are
checked.
"""

from collections.abc import Mapping

from ptokit.isa.lang.page import *


class FenceScope(Word, mlir="fence_scope", cpp_type="mem_dsb_t"):
    """The memories whose accesses a fence orders."""

    GM = "gm", "DSB_DDR"
    ALL = "all", "DSB_ALL"
    LOCAL_MEMORY = "local_memory", "DSB_UB"


class AddressSpace(Word, mlir="address_space", cpp_type="AddressSpace"):
    """A memory of the machine."""

    GM = "gm", "GM"
    VEC, MAT = ("vec", "VEC"), ("mat", "MAT")
    LEFT, RIGHT, ACC = ("left", "LEFT"), ("right", "RIGHT"), ("acc", "ACC")
    BIAS, SCALING, ZERO = ("bias", "BIAS"), ("scaling", "SCALING"), ("zero", "ZERO")


class FenceBarrierAll(Instr, name="fence.barrier_all", uses=(FLAGS,), traits=(STOPS,), pipe=S):
    """Wait until earlier writes to these memories are visible to all cores."""

    asm = Asm(shape="angled", cpp_text="dsb({scope});")
    example = "NAME #pto.fence_scope<gm>"
    scope = Attr(FenceScope)

    @classmethod
    def orders_memory(cls, attrs: Mapping[str, object]) -> bool:
        return attrs.get("scope") is not FenceScope.LOCAL_MEMORY

    def run(flags):
        flags.barrier(Pipe.ALL)


class CacheInvalid(Instr, abstract=True, traits=(BY_SCALAR, ADDRESSES, INVALIDATES), pipe=S):
    """Invalidate the data cache: later reads see the writes of other cores."""

    asm = Asm(shape="maintained")

    def run():
        """Do nothing: ptokit's cache is always coherent with memory."""


class CacheInvalidAll(CacheInvalid, name="cmo.cacheinvalid", form="all"):
    """Invalidate all lines of the data cache that belong to a memory."""

    line = "dcci((__gm__ void *)0, cache_line_t::ENTIRE_DATA_CACHE);"
    asm = Asm(cpp_text=line)
    example = "NAME all #pto.address_space<gm>"
    space = Attr(AddressSpace)
    rules = named("location", space == AddressSpace.GM, help="only global memory has a cache")


class CacheInvalidLine(CacheInvalid, name="cmo.cacheinvalid", form="the line of a pointer"):
    """Invalidate the line of the data cache in which the element behind a pointer lies."""

    asm = Asm(cpp_text="dcci({place}, cache_line_t::SINGLE_CACHE_LINE);")
    example = """\
func.func @example(%p: !pto.ptr<i32>) {
  pto.cmo.cacheinvalid %p single_cache_line : !pto.ptr<i32>
  return
}"""
    place = In(Ptr)
    rules = named("location", place.space == "gm", help="only global memory has a cache")


class CacheInvalidView(CacheInvalid, name="cmo.cacheinvalid", form="the line of a view"):
    """Invalidate the line of the data cache in which the first element of a view lies."""

    asm = Asm(cpp_text="dcci({place}.data(), cache_line_t::SINGLE_CACHE_LINE);")
    example = in_view(f"NAME %view single_cache_line : {VIEW_F32}")
    place = In(Global)


class GetL2CacheOffset(Instr, name="get_l2_cache_offset", pipe=S):
    """The distance from an address of global memory to the same data past the L2 cache.

    The distance is 0: ptokit simulates no L2 cache, so every address leads past it.
    """

    asm = Asm(cpp_on=NOWHERE, cpp_text="{type} {result}{{}}; @ {result} = get_l2_cache_offset();")
    result = Result(Scalar, scalar="i64")
    example = "%far = NAME"

    def run():
        return 0
