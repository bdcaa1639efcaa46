"""Sections: parts of a function that only one kind of core runs."""

from ptokit.isa.lang.page import *

L1_F32 = VEC_NZ.replace("vec", "mat")
ONCE = ((OUTSIDE, 0), (0, OUTSIDE))
COMPILERS_OWN = "no published source defines this compiler-internal operation"
FUSED = f"""\
%x = pto.alloc_tile : {VEC_F32}
%y = pto.fusion_region {{
  %t = pto.alloc_tile : {VEC_F32}
  pto.texpands ins(%one : f32) outs(%t : {VEC_F32})
  pto.yield(%t) : ({VEC_F32}) -> ()
}} : {VEC_F32}"""


class Section(Instr, abstract=True, pipe=S, uses=(REGIONS, FLOW), routes=ONCE):
    """A part of a function for one kind of core.

    A function with sections of both kinds is split into one function for each kind.
    """

    disputes = ("X50",)
    example = f"""\
func.func @example(%x: {VEC_F32}, %y: {VEC_F32}) {{
  NAME {{
    pto.tmov ins(%x : {VEC_F32}) outs(%y : {VEC_F32})
  }}
  return
}}"""

    def run(regions, flow):
        return flow.branch(1, regions)


def of(kind: str) -> Asm:
    """Return the C++ condition: a macro is defined if code of that kind is compiled."""
    return Asm(shape="section", cpp_text=f"#if defined({kind})")


class SectionCube(Section, name="section.cube", core=CUBE, asm=of("__DAV_CUBE__")):
    """The part that only the cores with the cube unit run."""

    example = in_view(f"""\
pto.section.cube {{
  %t = pto.alloc_tile : {L1_F32}
  pto.tload ins(%view : {VIEW_F32}) outs(%t : {L1_F32})
}}""")


class SectionVector(Section, name="section.vector", core=VECTOR, asm=of("__DAV_VEC__")):
    """The part that only the cores with the vector unit run."""


MOST_THREADS = 2048  # of a launch
FEW = f"a launch has at most {MOST_THREADS:,} threads"


class Threads(
    Instr,
    abstract=True,
    core=VECTOR,
    pipe=V,
    uses=(REGIONS, FLOW),
    routes=ONCE,
    traits=(THREADS,),
    disputes=("V17",),
):
    """Threads of the vector core, their number the product of the three extents of the launch.

    They run one after the other, in the order of their numbers x + X * (y + Y * z), up to the next
    barrier, vote, shuffle or reduction, at which all of them wait.
    """

    targets = ("cpu", "a5")

    def run(regions, flow):
        return flow.branch(1, regions)


class SectionSimt(Threads, name="section.simt"):
    __doc__ = Threads.__doc__

    asm = Asm(shape="section", cpp_text="// {x} x {y} x {z} threads")
    example = "pto.section.simt<<<128, 1, 1>>> {\n}"
    x = Attr(int, key="dim_x")
    y = Attr(int, key="dim_y")
    z = Attr(int, key="dim_z")
    rules = named(
        "attribute", x >= 0, y >= 0, z >= 0, x * y * z <= MOST_THREADS, help=f"at least 0; {FEW}"
    )


def of_extents(x: Operand, y: Operand, z: Operand) -> Rules:
    """Require extents of a launch."""
    few = x * y * z <= MOST_THREADS
    return named("operand-value", x >= 0, y >= 0, z >= 0, few, help=f"at least 0; {FEW}")


class SimtLaunch(Threads, name="simt_launch", traits=(THREADS, CALLS)):
    """A function of the module, run by threads of the vector core: the extents give their number.

    The function has `pto.simt_entry`; all threads get the same values. They run one after the
    other, in the order of their numbers x + X * (y + Y * z), up to the next barrier, vote, shuffle
    or reduction, at which all of them wait.
    """

    asm = Asm(shape="call", cpp_text="// {x} x {y} x {z} threads of {callee}({arguments})")
    example = """\
func.func private @threads(%n: i32) attributes {pto.simt_entry} {
  return
}
func.func @example(%x: i32, %n: i32) {
  pto.simt_launch @threads<<<%x, %x, %x>>>(%n) : (i32) -> ()
  return
}"""
    x = In(Scalar, scalar="i32", doc="threads along x")
    y = In(Scalar, scalar="i32", doc="threads along y")
    z = In(Scalar, scalar="i32", doc="threads along z")
    arguments = In(Any_, (), many=True, doc="what the function takes")
    callee = Attr(str)
    rules = of_extents(x, y, z)


class StoreVfSimtInfo(
    Instr, name="store_vfsimt_info", core=VECTOR, pipe=S, changes={EXTENTS: None}
):
    """Set the extents of the launches that are calls of functions for threads.

    They hold up to the next such instruction, in the same region and in those inside.
    """

    targets = ("cpu", "a5")
    asm = Asm(shape="lanes", cpp_on=NOWHERE)
    example = """\
func.func private @threads(%n: i32) attributes {pto.simt_entry} {
  return
}
func.func @example(%x: i32, %n: i32) {
  pto.store_vfsimt_info %x, %x, %x : i32, i32, i32
  func.call @threads(%n) : (i32) -> ()
  return
}"""
    z = In(Scalar, scalar="i32", doc="threads along z")
    y = In(Scalar, scalar="i32", doc="threads along y")
    x = In(Scalar, scalar="i32", doc="threads along x")
    rules = of_extents(x, y, z)

    def lowered():
        return []


class FusionRegion(Instr, name="fusion_region", pipe=S, routes=ONCE):
    """Instructions that a compiler has chosen to fuse; its results are the yielded values."""

    unexecuted = COMPILERS_OWN
    asm = Asm(shape="section", cpp_text="")
    example = FUSED


class FusionYield(Instr, name="yield", traits=(TERMINATOR,), pipe=S):
    """The end of a fused region, with its results."""

    unexecuted = COMPILERS_OWN
    asm = Asm(shape="yield", brackets=("values",), cpp_text="")
    example = FUSED
    values = In(Any_, (), many=True)
