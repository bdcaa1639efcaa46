"""Global memory views: tensors from pointers, partitions from tensors."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.addresses import known_array

SIDE_BY_SIDE = "two elements of a byte are neighbours in a row"
INSIDE = "the partition must lie inside its tensor view"
STATED = "write these extents in the type of the result, or ?"


def known_extents(
    sizes: tuple[int | None, ...], result: GlobalType | None
) -> tuple[int | None, ...]:
    """Return the extents of a view: those that its type states if the operands are not known."""
    if result is None or len(result.shape) != len(sizes):
        return sizes
    both = zip(sizes, result.shape, strict=True)
    return tuple(stated if size is None else size for size, stated in both)


@formula("{1} lead from element to element of {0}, each once")
def elements_apart(shape: Value, strides: Value) -> Value:
    """Return whether no two indices name one element, except along strides of 0."""
    if not isinstance(shape, Many) or not isinstance(strides, Many):
        return ABSENT
    pairs = zip(strides.values, shape.values, strict=False)
    axes = [(a, b) for a, b in pairs if isinstance(a, int) and isinstance(b, int)]
    if len(axes) < len(shape.values):
        return ABSENT  # numbers known only at run time: it asks again
    reach = 0
    for step, extent in sorted((a, b) for a, b in axes if a and b > 1):
        if step <= reach:
            return False
        reach += step * (extent - 1)
    return True


SHARED = "rows share elements: give strides of the whole array, not of a part of it"


class MakeTensorView(Instr, name="make_tensor_view", verb="view", pipe=S, disputes=("X41",)):
    """Describe the array behind `ptr`: its extents and strides, in elements."""

    asm = Asm(typed=(), cpp_text="{type} {result}({ptr}{extents});")
    result = Result(Global)
    ptr = In(Ptr)
    shape = In(Index, many=True, key="shape", counts="extents")
    strides = In(Index, many=True, key="strides", counts="steps")
    layout = Attr(GlobalLayout, None)
    example = in_view("")
    rules = (
        named("shape", result.dtype == ptr.dtype, help="view the pointer's own element type"),
        named("location", ptr.space == "gm", help="a view is of global memory"),
        known_array(ptr),
        named("shape", result.rank <= 5, result.rank == shape.count, result.rank == strides.count),
        named("shape", shape == result.static_extents, help=STATED),
        named(
            "operand-value",
            shape.least >= 1,
            help="a view has elements, an empty array none",
        ),
        when(
            result.dtype.isin(f4e2m1x2, f4e1m2x2),
            named("layout", strides.last == 1, help=SIDE_BY_SIDE),
        ),
        by(BOARDS, named("operand-value", strides.least >= 0, help="strides are at least 0")),
        warns(named("shape", elements_apart(shape, strides), help=SHARED)),
        when(
            both(layout.given, result.named_layout == Const(True)),
            named("layout", layout == result.layout, help="give the layout only once"),
        ),
    )

    def type_of(result, ptr, shape, strides, layout):
        shape = known_extents(shape, result)
        result = result or GlobalType(ptr.dtype, shape)
        return replace(result, shape=shape, stride=strides, stated=layout or result.stated)

    def run(ptr, result):
        return ptr.view(result)


class PartitionView(Instr, name="partition_view", verb="part", pipe=S, disputes=("X41", "X113")):
    """The part of `view` that starts at `offsets`, with extents `sizes` and the same strides."""

    asm = Asm(
        shape="part",
        spellings=("subview", "memref_subview"),
        cpp_text="{type} {result}({view_begin}{offsets_at}{extents});",
    )
    result = Result(Global)
    view = In(Global)
    offsets = In(Index, many=True, key="offsets", counts="extents")
    sizes = In(Index, many=True, key="sizes", counts="extents")
    layout = Attr(GlobalLayout, None)

    example = in_view(f"""\
%zero = arith.constant 0 : index
%part = pto.partition_view %view, offsets = [%zero, %zero], sizes = [%rows, %cols]\
 : {VIEW_F32} -> !pto.partition_tensor_view<16x32xf32>""")
    rules = (
        named("shape", result.dtype == view.dtype, help="a partition keeps the element type"),
        named("shape", view.rank == offsets.count, view.rank == sizes.count),
        when(
            result.rank == sizes.count,
            by(ASSEMBLER, named("shape", sizes == result.static_extents, help=STATED)),
        ),
        named("operand-value", offsets.least >= 0, sizes.least >= 0, help="both are at least 0"),
        on(HARDWARE, named("shape", result.filled == Const(True), help="a part has elements")),
        when(layout.given, named("layout", layout == view.layout, help="a part keeps the layout")),
        by(BOARDS, named("window-out-of-bounds", offsets + sizes <= view.extents, help=INSIDE)),
    )

    def type_of(result, view, sizes):
        boxes = GlobalLayout.NZ if view.layout is GlobalLayout.NZ else view.stated
        return replace(view, shape=known_extents(sizes, result), stated=boxes, partition=True)

    def run(view, offsets, result):
        return view.partition(result, offsets)
