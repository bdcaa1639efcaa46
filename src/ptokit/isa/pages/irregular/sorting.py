"""TSORT32 and TMRGSORT: records of a value and an index, sorted and merged."""

from ptokit.isa.lang.page import *
from ptokit.values.layouts import known

ROOM, WHOLE = (
    "dst has room for 8 bytes for each element",
    "chips write whole blocks of 32 records, over what lies behind a shorter row of dst",
)
FITS = "tmp has room for what is valid of all sources"
EACH, PADDED = "an index for each value", "tmp has room for one row of src in whole blocks of 32"
ONE = "tmp has room for one block of 32"
RECORD, BLOCK = 8, 32  # bytes; records that are sorted together
COPIED = 255 * BLOCK  # A2/A3 copy rows up to this length to tmp whole, longer rows' last block only
ROW, PART = "!pto.tile_buf<vec, 1x256xf32>", "!pto.tile_buf<vec, 1x64xf32>"
COUNTS = "!pto.tile_buf<vec, 1x16xu16, valid=1x4>"
LISTS = {"dst": ROW, "executed": COUNTS, "src0": PART, "src1": PART}


def codes(x: Array) -> Array:
    """Return the bits of values of 16 or 32 bits, as u32."""
    return x.bitcast(u16).cast(u32) if x.dtype.size == 2 else x.bitcast(u32)


def descending(x: Array) -> Array:
    """Return numbers that grow as values fall, from the positive NaN to the negative one."""
    bits, top = codes(x), 1 << (x.dtype.bits - 1)
    if not x.dtype.is_float:
        return bits ^ (top - 1)
    bits = x.equals(0).where(0, bits)  # zeros are equal
    return (bits & top).equals(0).where(bits ^ (top - 1), bits)


OPEN = "give tmp: the size of the last block is not known statically"


class TSort32(Instr, pipe=V, disputes=("X2",)):
    """Sort each row in blocks of 32 by value, greatest first; equal values by index, unsigned.

    dst gets records of 8 bytes: the value, zeros up to 4 bytes, its index. -0 equals +0; a NaN with
    sign 0 comes first, one with sign 1 last, and NaN keeps its bits. Bytes of dst after the records
    stay.
    """

    dst = Out(Tile, doc="receives a record for each element of src")
    src = In(Tile, doc="the values")
    idx = In(Tile, doc="their indices, of 32 bits; on A2/A3 and A5 one row may serve all rows")
    tmp = Scratch(Tile, None, doc="of A2/A3 and A5, for a last block of fewer than 32")
    example = {"dst": "!pto.tile_buf<vec, 16x64xf32>", "idx": "!pto.tile_buf<vec, 16x32xu32>"}
    elided = {"dst": Like(src, src.valid.rows, src.valid.cols * (Const(RECORD) // src.size))}
    room = named("shape", dst.valid.cols * dst.size >= src.valid.cols * RECORD, help=ROOM)
    blocks, tail = (src.valid.cols + BLOCK - 1) // BLOCK, src.valid.cols % BLOCK != 0
    whole = dst.cols * dst.size >= blocks * BLOCK * RECORD
    copied = tmp.nbytes >= blocks * BLOCK * src.size
    single = tmp.nbytes >= Const(BLOCK) * src.size
    rules = (
        elements(src, cpu=(*F16_F32, bf16, i16, i32), a2a3=F16_F32, a5=F16_F32),
        one_type(dst, src),
        named("element-type", idx.dtype.isin(u32, i32), help="indices have 32 bits"),
        named("layout", both(dst.layout == ND, src.layout == ND, idx.layout == ND)),
        in_vec(dst, src, idx),
        named("shape", dst.valid.rows == src.valid.rows),
        on(CPU, room),
        on(HARDWARE, by(BOARDS, room)),
        on(
            CPU,
            named("shape", idx.valid.cols == src.valid.cols, help=EACH),
            named("shape", idx.valid.rows == src.valid.rows),
        ),
        on(
            HARDWARE,
            named("shape", idx.valid.cols >= src.valid.cols, help=EACH),
            named("shape", either(idx.valid.rows == src.valid.rows, idx.valid.rows == 1)),
            when(tail, warns(named("shape", whole, help=WHOLE))),
        ),
        when(tail, named_scratch(tmp, HARDWARE)),
        at(LEVEL3, HARDWARE, when(~tmp.given, named("level", ~src.dynamic_cols, help=OPEN))),
        on(
            A2A3,
            when(both(tail, src.valid.cols <= COPIED), named("shape", copied, help=PADDED)),
            when(both(tail, src.valid.cols > COPIED), named("shape", single, help=ONE)),
        ),
    )
    recorded = {"block": {}, "tail": {}, "cpu_int": {}, "nan": {}}

    def run(dst, src, idx):
        rows, cols = src.valid
        x = src[:rows, :cols]
        each = idx.valid.rows
        single = known(each, 1) or each != rows
        given = idx[:1, :cols] if single else idx[:rows, :cols]
        index = given.bitcast(u32).cast(u64)
        records = codes(x).cast(u64) | index << 32
        keys = descending(x).cast(u64) << 32 | index
        dst.lines(u64)[:rows, :cols] = records.sorted_by(keys, BLOCK)


def keys_of(records: Array, dtype: DType) -> Array:
    """Return the values of records, as f32."""
    if dtype.size == 2:
        return (records & 0xFFFF).cast(u16).bitcast(f16).cast(f32)
    return (records & 0xFFFFFFFF).cast(u32).bitcast(f32)


class Merge(Instr, inner_flags=(A2A3, A5), abstract=True, pipe=V):
    """Runs of records, merged: each step takes the run whose next value is the greatest.

    It takes the first run that is left, or a later one with a value greater than all before: among
    equal values the first run's comes first. Records are moved whole; no rule requires that runs
    are sorted.
    """

    specials = """\
A NaN is never greater, and nothing is greater than it: it holds its run up until that is the first
one left. Its bits stay."""

    dst = Out(Tile, doc="receives the records; bytes behind them stay")


def one_row(dst: Operand, *tiles: Operand) -> Rules:
    """Require records of floats in one row, as every merge does."""
    return (named("element-type", dst.dtype.isin(*F16_F32)), in_row(dst), also(dst, *tiles))


def also(dst: Operand, *tiles: Operand) -> Rules:
    """Require of further tiles the type of dst, and records in one row."""
    return (named("element-type", *(t.dtype == dst.dtype for t in tiles)), in_row(*tiles))


def in_row(*tiles: Operand) -> Rules:
    return (
        named("shape", both(*(t.rows == 1 for t in tiles)), help="records lie in one row"),
        named("layout", both(*(t.layout == ND for t in tiles)), help="store in rows, not in boxes"),
        in_vec(*tiles),
    )


class TMrgSort(Merge, form="block", name="tmrgsort", disputes=("X21",), recorded={"block": {}}):
    """Merge each four neighbouring runs of `block_len` elements, in groups that fill the row.

    On a5 elements after the last group are not written.
    """

    dst = Merge.dst
    src = In(Tile, doc="the runs: groups of four")
    length = "elements of a run; two to a record of f32, four of f16"
    block_len = In(Index, cpp="blockLen", doc=length)
    example = {"dst": ROW, "src": ROW, "block_len": 64}
    groups = src.valid.cols % (block_len * 4) == 0
    rules = (
        one_row(dst, src),
        named("shape", dst.valid.cols == src.valid.cols, help="merge all rows of src"),
        named("operand-value", block_len > 0),
        on(CPU, named("operand-value", block_len * src.size % RECORD == 0, help="whole records")),
        on(HARDWARE, named("operand-value", block_len % 64 == 0)),
        when(
            block_len > 0,
            on((CPU, A2A3), named("shape", groups, help="use whole groups of four runs")),
            on(A5, warns(named("shape", groups, help="the rest of dst is not written"))),
        ),
    )

    def run(dst, src, block_len):
        each = RECORD // src.dtype.size
        run = block_len // each
        groups = src.valid.cols // (4 * block_len)
        total = groups * 4 * run
        records = src.lines(u64)[0, :total].reshaped(groups, 4 * run)
        merged, _ = records.merged(keys_of(records, src.dtype), [run] * 4, 4 * run)
        dst.lines(u64)[0, :total] = merged.reshaped(1, total)


class MergeLists(Merge, abstract=True, disputes=("X22",)):
    """Merge two to four sorted lists; with `exhausted` stop when the first list is used up.

    dst's valid columns limit the number of records. `executed` is written with `exhausted` only.
    """

    dst = Merge.dst
    executed = Out(Tile, doc="how many records of each list are taken, 16 bits")
    src0 = In(Tile, doc="a sorted list")
    src1 = In(Tile, doc="a sorted list")
    src2 = In(Tile, None, doc="a sorted list")
    src3 = In(Tile, None, doc="a sorted list")
    lies_over = tuple((Merge.dst, src) for src in (src0, src1, src2, src3))  # dst is written last
    exhausted = Attr(bool, False)
    asm = Asm(attrs_inside=" ")
    example = LISTS
    rules = (
        one_row(dst, src0, src1),
        when(src2.given, also(dst, src2)),
        when(src3.given, named("operand-count", src2.given), also(dst, src3)),
        named("element-type", executed.dtype.isin(i16, u16), help="use a 16-bit type"),
        named("shape", both(executed.valid.rows == 1, executed.valid.cols == 4), help="use 1x4"),
        named("layout", executed.layout == ND),
    )

    def run(dst, executed, src0, src1, src2, src3, exhausted):
        sources = [s for s in (src0, src1, src2, src3) if s is not None]
        each = RECORD // dst.dtype.size
        lengths = [s.valid.cols // each for s in sources]
        first, *others = [s.lines(u64)[0, :n] for s, n in zip(sources, lengths, strict=True)]
        records = first.join_columns(*others)
        count = least(dst.valid.cols // each, sum(lengths))
        merged, taken = records.merged(keys_of(records, dst.dtype), lengths, count)
        if not exhausted:
            dst.lines(u64)[0, :count] = merged
            return
        stop = taken.fold("add", axis=1, start=0).cast(i64)
        inside = dst.iota(1, count)[1] < stop
        dst.lines(u64).put((0, slice(0, count)), merged, inside)
        executed[0, :4] = 0
        executed[0, : len(sources)] = taken.cast(executed.dtype)


class TMrgSortLists(MergeLists, form="lists", name="tmrgsort"):
    """Merge two to four sorted lists; with `exhausted` stop when the first list is used up.

    dst's valid columns limit the number of records. `executed` is written with `exhausted` only.
    """

    dst, executed = MergeLists.dst, MergeLists.executed
    tmp = Scratch(Tile, doc="room for what is valid of all sources")
    src0, src1, src2 = MergeLists.src0, MergeLists.src1, MergeLists.src2
    src3 = MergeLists.src3
    asm = Asm(
        order=("src0", "src1", "src2", "src3", "tmp"),
        call="TMRGSORT<dst, tmp, src0, src1, src2, src3, exhausted>"
        "(dst, taken, tmp, src0, src1, src2, src3)",
        cpp_text="{{ MrgSortExecutedNumList taken{{}}; {call} "
        + " ".join(f"{{executed}}.SetValue({n}, taken.mrgSortList{n});" for n in range(4))
        + " }}",
    )
    example = {**LISTS, "tmp": ROW}
    two = src0.valid.cols + src1.valid.cols
    three = two + src2.valid.cols
    rules = (
        MergeLists.rules,
        also(dst, tmp),
        on(HARDWARE, named("shape", tmp.cols >= dst.cols, help="tmp is as wide as dst")),
        when(src2.given, named("shape", tmp.cols >= three, help=FITS)),
        when(src3.given, named("shape", tmp.cols >= three + src3.valid.cols, help=FITS)),
        named("shape", tmp.cols >= two, help=FITS),
    )
    recorded = {f"merge{n}{how}": {} for n in (2, 3, 4) for how in ("", "_exhausted")}


class TMrgSortPlanned(MergeLists, form="lists without tmp", name="tmrgsort"):
    """The merge of lists with scratch from the compiler, which is not possible at level 3."""

    no_tmp = Attr(bool, cpp=False)
    example = (
        f"pto.tmrgsort ins(%src0, %src1 no_tmp : {PART}, {PART}) "
        f"outs(%dst, %executed : {ROW}, {COUNTS})"
    )
    asm = Asm(flag="no_tmp", cpp_on=NOWHERE)
    rules = (
        MergeLists.rules,
        named("attribute", no_tmp == Const(True), help="give tmp, or set no_tmp"),
        at(LEVEL3, HARDWARE, named("level", Field("machine").level != Const(3), help="give tmp")),
    )
