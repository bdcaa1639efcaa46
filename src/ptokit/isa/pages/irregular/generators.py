"""TCI, TTRI, TRANDOM: consecutive numbers, triangles of ones, random numbers."""

from ptokit.isa.lang.page import *

COUNTED = (i16, u16, i32, u32)
RANDOM = Asm(
    attrs_inside=" ",
    call="TRANDOM<rounds>(dst, key, counter)",
    cpp_text="{{ TRandomKey key{{{key0}, {key1}}}; "
    "TRandomCounter counter{{{counter0}, {counter1}, {counter2}, {counter3}}}; {call} }}",
)
TRIANGLES = (*COUNTED, f16, f32)


class Consecutive(
    Instr,
    abstract=True,
    asm=Asm(
        attrs_inside=" ",
        inside_until="v0.57",
        call="TCI<dst, dst.DType, descending>(dst, start)",
    ),
):
    """dst[0, k] = start + k, or start - k where `descending`, for the valid columns; it wraps."""

    dst = Out(Tile, doc="one row that receives the numbers")
    start = In(Scalar, whole=True, doc="the first number")
    descending = Attr(bool, False)
    kind = TypeOf(start)

    example = """\
%s = arith.constant 5 : i32
NAME ins(%s : i32) outs(%dst : !pto.tile_buf<vec, 1x32xi32>)"""
    rules = (
        named("element-type", dst.dtype.isin(*COUNTED), help="use 16-bit or 32-bit integers"),
        exact(kind, dst),
        named("shape", dst.rows == 1, help="dst is one row"),
        named("layout", dst.layout == ND, help="store dst row-major"),
        in_vec(dst),
    )

    def run(dst, start, descending):
        rows, cols = dst.valid
        steps = dst.iota(rows, cols)[1].cast(dst.dtype)
        dst[:rows, :cols] = (0 - steps if descending else steps) + start


class TCI(Consecutive, pipe=S, disputes=("X6", "X19")):
    """dst[0, k] = start + k, or start - k where `descending`, for the valid columns; it wraps."""

    unnamed = named("level", Field("machine").level != Const(3), help="give the scratch tile tmp")
    rules = (Consecutive.rules, at(LEVEL3, (A2A3,), by(ASSEMBLER, warns(unnamed))))


class TCITmp(
    Consecutive,
    name="tci",
    form="scratch",
    pipe=V,
    asm=Asm(call="TCI<dst, tmp, dst.DType, descending>(dst, start, tmp)", cpp_on=CHIPS),
    disputes=("X1", "X6"),
):
    """TCI with scratch for the vector unit of A2/A3; the numbers are the same."""

    dst, start = Consecutive.dst, Consecutive.start
    tmp = Scratch(Tile, idle=(A5,), doc="of A2/A3: 768 bytes for numbers of 32 bits, 1792 for 16")

    example = """\
%s = arith.constant 5 : i32
NAME ins(%s, %t : i32, !pto.tile_buf<vec, 1x256xi32>) outs(%dst : !pto.tile_buf<vec, 1x32xi32>)"""
    rules = (
        Consecutive.rules,
        on(
            A2A3,
            named("element-type", tmp.size == 4, help="tmp has elements of 4 bytes"),
            when(Consecutive.dst.size == 4, named("shape", tmp.nbytes >= 768)),
            when(Consecutive.dst.size == 2, named("shape", tmp.nbytes >= 1792)),
        ),
    )


class TTri(
    Instr,
    pipe=V,
    asm=Asm(attrs_inside=" ", call="TTRI<dst, upper>(dst, diagonal)"),
    specials="It writes 0 and 1 only.",
):
    """dst[i, j] = 1 in the lower triangle, j <= i + diagonal, and 0 elsewhere.

    With `upper` 1, 0 where j < i + diagonal, and 1 elsewhere.
    """

    dst = Out(Tile, doc="receives ones and zeros in its valid region")
    diagonal = In(Index, doc="how far the diagonal is to the right of the main one")
    upper = Attr(int, 0, key="upperOrLower", bits=32)
    example = {"diagonal": 1}
    rules = (
        elements(
            dst, cpu=(*TRIANGLES, bf16), a2a3=TRIANGLES, a5=(*TRIANGLES, bf16, i8, u8, i64, u64)
        ),
        named("attribute", both(upper >= 0, upper <= 1), help="0: lower, 1: upper"),
        named("layout", dst.layout == ND, help="store dst row-major"),
        in_vec(dst),
    )
    recorded = {"lower": {}, "upper": {}}
    disputes = ("X3",)

    def run(dst, diagonal, upper):
        rows, cols = dst.valid
        row, col = dst.iota(rows, cols)
        one, zero = dst.constant(0) + 1, dst.constant(0)
        edge, col = (x.cast(i32) for x in ((row + diagonal).clamp(-1, cols), col))
        ones = (col < edge).where(zero, one) if upper else (col <= edge).where(one, zero)
        dst[:rows, :cols] = ones


MASK = (1 << 32) - 1
FACTORS, WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
LANES, CHUNK = 64, 256  # counters, and the columns they fill


def philox(counter: list[Array], key: list[Array], rounds: int) -> list[Array]:
    """Return Philox4x32 (Random123): four words of 32 bits, here in u64, mixed with two keys."""
    for _ in range(rounds):
        c0, c1, c2, c3 = counter
        p0, p1 = c0 * FACTORS[0], c2 * FACTORS[1]
        counter = [(p1 >> 32) ^ c1 ^ key[0], p1 & MASK, (p0 >> 32) ^ c3 ^ key[1], p0 & MASK]
        key = [(k + w) & MASK for k, w in zip(key, WEYL, strict=True)]
    return counter


class TRandom(Instr, uses=(TARGET,), targets=(CPU, A5), pipe=V, asm=RANDOM, disputes=("X4",)):
    """dst = random numbers of 32 bits: Philox4x32, a block of four words for each counter.

    64 counters fill 256 columns. On the CPU simulator word w of counter n is in column 64 w + n,
    and after each such chunk the first counter grows by dst.cols / 4; on A5 it is in column 4 n +
    w, and the counter grows by 64, after the last chunk of a row by the columns modulo 64. So
    unless 256 columns are valid, numbers repeat, or counters are skipped.
    """

    dst = Out(Tile, doc="receives the numbers")
    key0 = In(Scalar, scalar="u32", doc="the key: its low word")
    key1 = In(Scalar, scalar="u32", doc="its high word")
    counter0 = In(Scalar, scalar="u32", doc="the first counter: its lowest word")
    counter1 = In(Scalar, scalar="u32", doc="its second word")
    counter2 = In(Scalar, scalar="u32", doc="its third word")
    counter3 = In(Scalar, scalar="u32", doc="its highest word")
    rounds = Attr(int, 10, bits=32)
    example = {"dst": "!pto.tile_buf<vec, 2x256xu32>"}
    rules = (
        named("element-type", dst.dtype.isin(i32, u32), help="use a 32-bit type"),
        named("attribute", either(rounds == 7, rounds == 10), help="7 or 10 rounds"),
        named("layout", dst.layout == ND, help="store dst row-major"),
        in_vec(dst),
    )
    recorded = {"r7": {}, "r10": {}}

    def run(dst, key0, key1, counter0, counter1, counter2, counter3, rounds, target):
        rows, cols = dst.valid
        row, col = dst.iota(rows, cols)
        chunks, within = (cols + CHUNK - 1) // CHUNK, col % CHUNK
        if target.chip:
            each = (chunks - 1) * LANES + (cols - 1) % LANES + 1
            word, first = within % 4, row * each + (col // CHUNK) * LANES + within // 4
        else:
            number = row * chunks + col // CHUNK
            word, first = within // LANES, number * (dst.cols // 4) + within % LANES
        counter, carry = list[Array](), first.cast(u64)
        for part in (counter0, counter1, counter2, counter3):
            total = carry + part.cast(u64)
            counter.append(total & MASK)
            carry = total >> 32
        words = philox(counter, [key0.cast(u64), key1.cast(u64)], rounds)
        found = words[3]
        for n in range(3):
            found = word.equals(n).where(words[n], found)
        dst[:rows, :cols] = found.cast(dst.dtype)
