"""Generated from the pages of ptokit.isa by `make docs`; do not edit."""

from typing import overload

from ptokit.api.hostarrays import LaneRegister, Tile
from ptokit.api.tensors import ElementType

class LaneNames:
    @staticmethod
    def chistv2(
        acc: LaneRegister,
        src: LaneRegister,
        mask: LaneRegister,
        bin: int,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[b] = acc[b] + how many selected bytes are at most b, or at most 128 + b; sums wrap.

        The second 128 bins count the bytes of the first ones, too.

        bin: 0: bins 0 to 127, 1: bins 128 to 255
        """

    @staticmethod
    def dhistv2(
        acc: LaneRegister,
        src: LaneRegister,
        mask: LaneRegister,
        bin: int,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[b] = acc[b] + how many selected bytes are b, or 128 + b; sums wrap.

        bin: 0: bins 0 to 127, 1: bins 128 to 255
        """

    @staticmethod
    def dsb(
        domain: str,
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Wait until all earlier accesses to some memories are complete.

        domain: str
        """

    @staticmethod
    def first_lanes(
        count: int,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """A mask of the first `count` lanes: what `plt_b8`, `plt_b16` and `plt_b32` give."""

    @staticmethod
    def get_vms4_sr(
        src: LaneRegister,
        lane: int = ...,
        *,
        dtype: ElementType | None = ...,
    ) -> float:
        """One lane of a register as a number.

        lane: int
        """

    @staticmethod
    def init_align(
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """The state before unaligned stores: nothing is left to store."""

    @staticmethod
    def mem_bar(
        kind: str,
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Order the accesses of vector instructions to the buffer.

        kind: str
        """

    @staticmethod
    def pand(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = lhs[i] and rhs[i]; lanes that `mask` does not have become 0."""

    @staticmethod
    def pbitcast(
        src: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """Read the bits of a mask as a mask for elements of another width."""

    @staticmethod
    def pdintlv_b16(
        lhs: LaneRegister,
        rhs: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """The even lanes of lhs and then of rhs, and their odd lanes."""

    @staticmethod
    def pdintlv_b32(
        lhs: LaneRegister,
        rhs: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """The even lanes of lhs and then of rhs, and their odd lanes."""

    @staticmethod
    def pdintlv_b8(
        lhs: LaneRegister,
        rhs: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """The even lanes of lhs and then of rhs, and their odd lanes."""

    @staticmethod
    def pge_b16(
        pattern: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """A mask of a pattern: all lanes, none, the first so many, every third or fourth.

        pattern: str
        """

    @staticmethod
    def pge_b32(
        pattern: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """A mask of a pattern: all lanes, none, the first so many, every third or fourth.

        pattern: str
        """

    @staticmethod
    def pge_b8(
        pattern: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """A mask of a pattern: all lanes, none, the first so many, every third or fourth.

        pattern: str
        """

    @staticmethod
    def pintlv_b16(
        lhs: LaneRegister,
        rhs: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """The lanes of both masks in turns: of their lower halves, and of their upper halves."""

    @staticmethod
    def pintlv_b32(
        lhs: LaneRegister,
        rhs: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """The lanes of both masks in turns: of their lower halves, and of their upper halves."""

    @staticmethod
    def pintlv_b8(
        lhs: LaneRegister,
        rhs: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """The lanes of both masks in turns: of their lower halves, and of their upper halves."""

    @staticmethod
    def pldi(
        src: Tile,
        offset: int,
        dist: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """Load a mask from packed bits: all of them, each twice (US), or every second one (DS).

        `offset` counts bytes of `plds`, units of 32 bytes of `pldi` (US: 16).

        dist: str
        """

    @staticmethod
    def plds(
        src: Tile,
        offset: int,
        dist: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """Load a mask from packed bits: all of them, each twice (US), or every second one (DS).

        `offset` counts bytes of `plds`, units of 32 bytes of `pldi` (US: 16).

        dist: str
        """

    @staticmethod
    def plt_b16(
        count: int,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, int]:
        """A mask of the first `count` lanes, and how many are left after all lanes of a register."""

    @staticmethod
    def plt_b32(
        count: int,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, int]:
        """A mask of the first `count` lanes, and how many are left after all lanes of a register."""

    @staticmethod
    def plt_b8(
        count: int,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, int]:
        """A mask of the first `count` lanes, and how many are left after all lanes of a register."""

    @staticmethod
    def pltm_b16(
        loop: int,
        bound: int,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """A mask of the lanes whose number in the `loop`-th register is below `bound`.

        loop: the number of the register
        bound: elements of all registers
        """

    @staticmethod
    def pltm_b32(
        loop: int,
        bound: int,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """A mask of the lanes whose number in the `loop`-th register is below `bound`.

        loop: the number of the register
        bound: elements of all registers
        """

    @staticmethod
    def pltm_b8(
        loop: int,
        bound: int,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """A mask of the lanes whose number in the `loop`-th register is below `bound`.

        loop: the number of the register
        bound: elements of all registers
        """

    @staticmethod
    def pnot(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = not src[i]; lanes that `mask` does not have become 0."""

    @staticmethod
    def por(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = lhs[i] or rhs[i]; lanes that `mask` does not have become 0."""

    @staticmethod
    def ppack(
        src: LaneRegister,
        part: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """The first of each two bits, packed into one half of dst; the other half is 0.

        part: str
        """

    @staticmethod
    def psel(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = lhs[i] where `mask` has lane i, else rhs[i]."""

    @staticmethod
    def pset_b16(
        pattern: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """A mask of a pattern: all lanes, none, the first so many, every third or fourth.

        pattern: str
        """

    @staticmethod
    def pset_b32(
        pattern: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """A mask of a pattern: all lanes, none, the first so many, every third or fourth.

        pattern: str
        """

    @staticmethod
    def pset_b8(
        pattern: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """A mask of a pattern: all lanes, none, the first so many, every third or fourth.

        pattern: str
        """

    @staticmethod
    def psti(
        src: LaneRegister,
        dst: Tile,
        offset: int,
        dist: str,
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Store a mask as packed bits: all of them, or every second one (PK).

        `offset` counts bytes of `psts`, units of 32 bytes of `psti` (PK: 16).

        dist: str
        """

    @staticmethod
    def psts(
        src: LaneRegister,
        dst: Tile,
        offset: int,
        dist: str,
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Store a mask as packed bits: all of them, or every second one (PK).

        `offset` counts bytes of `psts`, units of 32 bytes of `psti` (PK: 16).

        dist: str
        """

    @staticmethod
    def punpack(
        src: LaneRegister,
        part: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """Each bit of one half of src, followed by 0.

        part: str
        """

    @staticmethod
    def pxor(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = either lhs[i] or rhs[i]; lanes that `mask` does not have become 0."""

    @staticmethod
    def register_copy(
        src: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """A register with the content of another: ptokit makes it where values of loops meet."""

    @staticmethod
    def sprclr(
        register: str,
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Set a register to 0: AR, the address of stores that squeezed lanes take.

        register: str
        """

    @staticmethod
    def syncthreads(
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Wait until all threads of the launch have come here."""

    @staticmethod
    def threadfence(
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Order the accesses of the thread to memory; ptokit executes them in order."""

    @staticmethod
    def threadfence_block(
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Order the accesses of the thread to memory; ptokit executes them in order."""

    @staticmethod
    def uvld(
        src: Tile,
        offset: int,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """Load a register from any address of an element, without a state.

        offset: in elements
        """

    @staticmethod
    def vabs(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = |src[i]|; the least integer stays. Lanes without the mask become 0."""

    @staticmethod
    def vadd(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = lhs[i] + rhs[i]; integers wrap. Lanes that the mask does not select become 0."""

    @staticmethod
    def vaddc(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """dst[i] = lhs[i] + rhs[i] without sign; carry[i] says whether the sum has a 33rd bit."""

    @staticmethod
    def vaddcs(
        lhs: LaneRegister,
        rhs: LaneRegister,
        carry_in: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """dst[i] = lhs[i] + rhs[i] + carry_in[i] without sign; carry[i] is the 33rd bit."""

    @staticmethod
    def vaddrelu(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = max(lhs[i] + rhs[i], 0), 0 for NaN. Lanes without the mask become 0."""

    @staticmethod
    def vadds(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = src[i] + scalar; integers wrap. Lanes without the mask become 0."""

    @staticmethod
    def vand(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = the bits of lhs[i] and rhs[i]. Lanes that the mask does not select become 0."""

    @staticmethod
    def vands(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = the bits of src[i] and scalar. Lanes without the mask become 0."""

    @staticmethod
    def vaxpy(
        lhs: LaneRegister,
        rhs: LaneRegister,
        alpha: float,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = alpha * lhs[i] + rhs[i], the product not rounded. Other lanes become 0."""

    @staticmethod
    def vbcnt(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = the number of bits of src[i] that are 1. Lanes without the mask become 0."""

    @staticmethod
    def vbitcast(
        src: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """Read the bits of a register as lanes of another type."""

    @staticmethod
    def vbr(
        scalar: float,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = scalar in all lanes."""

    @staticmethod
    def vcadd(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[0] = the sum of the lanes that the mask selects: neighbours, then sums of neighbours.

        Integers of 8 and 16 bits become sums of twice the width. A lane that the mask does not select
        changes nothing. All other lanes of dst are 0.
        """

    @staticmethod
    def vcbmax(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """value[0] = the greatest lane that the mask selects; found[i] says whether lane i has it.

        All other lanes of value are 0. Both zeros are equal, and NaN is equal to no lane.
        """

    @staticmethod
    def vcbmin(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """value[0] = the least lane that the mask selects; found[i] says whether lane i has it.

        All other lanes of value are 0. Both zeros are equal, and NaN is equal to no lane.
        """

    @staticmethod
    def vcgadd(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[g] = the sum of the lanes of group g, 32 bytes, that the mask selects."""

    @staticmethod
    def vcgmax(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[g] = the greatest lane of group g, 32 bytes, of those that the mask selects."""

    @staticmethod
    def vcgmin(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[g] = the least lane of group g, 32 bytes, of those that the mask selects."""

    @staticmethod
    def vci(
        scalar: float,
        direction: str = ...,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = scalar + i, or scalar - i where `order` is DESC.

        direction: str
        """

    @staticmethod
    def vcls(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = the leading bits of src[i] that are equal. Lanes without the mask become 0."""

    @staticmethod
    def vcmax(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[0] = the greatest lane that the mask selects, dst[1] = the bits of its number.

        Of equal lanes it is the first. All other lanes of dst are 0.
        """

    @staticmethod
    def vcmin(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[0] = the least lane that the mask selects, dst[1] = the bits of its number.

        Of equal lanes it is the first. All other lanes of dst are 0.
        """

    @staticmethod
    def vcmp(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        relation: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = lhs[i] `relation` rhs[i] where the mask selects lane i, else 0.

        relation: str
        """

    @staticmethod
    def vcmps(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        relation: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = src[i] `relation` scalar where the mask selects lane i, else 0.

        relation: str
        """

    @staticmethod
    def vcpadd(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = src[2i] + src[2i + 1] in the lower half; lanes without the mask count as 0."""

    @staticmethod
    def vcvt(
        src: LaneRegister,
        mask: LaneRegister,
        rnd: str | None = ...,
        sat: str | None = ...,
        part: str | None = ...,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """The lanes of src in another type, rounded as `rnd` says.

        Narrower results stand in every second or fourth lane of dst, the others are 0; wider ones are
        those of every second or fourth lane of src. `part` says which. With `sat` numbers beyond the
        type become its limits. Lanes of src that the mask does not select become 0.

        rnd: str
        sat: str
        part: str
        """

    @staticmethod
    def vdintlv(
        lhs: LaneRegister,
        rhs: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """The even lanes of lhs and then of rhs, and their odd lanes."""

    @staticmethod
    def vdintlvv2(
        lhs: LaneRegister,
        rhs: LaneRegister,
        part: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """The even or the odd lanes of lhs and then of rhs.

        part: str
        """

    @staticmethod
    def vdiv(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = lhs[i] / rhs[i], of integers toward zero. Lanes without the mask become 0.

        The least integer divided by -1 stays; an integer divided by 0 is 0.
        """

    @overload
    @staticmethod
    def vdup(
        scalar: float,
        mask: LaneRegister,
        position: str = ...,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = scalar where the mask selects lane i, else 0.

        position: str
        """

    @overload
    @staticmethod
    def vdup(
        src: LaneRegister,
        mask: LaneRegister,
        position: str = ...,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = the first or the last lane of src where the mask selects lane i, else 0.

        position: str
        """

    @staticmethod
    def vexp(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = e ** src[i], as `texp` computes it. Lanes without the mask become 0."""

    @staticmethod
    def vexpdif(
        src: LaneRegister,
        maximum: LaneRegister,
        mask: LaneRegister,
        part: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst = e ** (src - maximum) in f32; of f16 the even or odd lanes, as `part` says.

        part: str
        """

    @staticmethod
    def vgather2(
        src: Tile,
        index: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = element index[i] behind `src` where the mask selects lane i, else 0.

        Elements of 8 bits go into lanes of 16, with zeros above them.
        """

    @staticmethod
    def vgather2_bc(
        src: Tile,
        index: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = element index[i] behind `src` where the mask selects lane i, else 0.

        Elements of 8 bits go into lanes of 16, with zeros above them.
        """

    @staticmethod
    def vgatherb(
        src: Tile,
        index: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """Eight blocks of 32 bytes, index[i] bytes behind `src`; 0 where the mask lacks lane i."""

    @staticmethod
    def vintlv(
        lhs: LaneRegister,
        rhs: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """The lanes of both registers in turns: of their lower halves, and of their upper halves."""

    @staticmethod
    def vintlvv2(
        lhs: LaneRegister,
        rhs: LaneRegister,
        part: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """The lanes of the lower or the upper halves of both registers in turns.

        part: str
        """

    @staticmethod
    def vldas(
        src: Tile,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """The state before unaligned loads from an address."""

    @staticmethod
    def vlds(
        src: Tile,
        offset: int,
        dist: str = ...,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """Load a register from the vector buffer, as `dist` says.

        NORM copies 256 bytes. BRC_B8, BRC_B16 and BRC_B32 repeat one element of so many bits, BRC_BLK
        32 bytes. US repeats each element, DS takes every second one; UNPK puts zeros behind each
        element, UNPK4 three. SPLT2CHN and SPLT4CHN take every second or fourth element; E2B repeats
        each of eight elements in a group of 32 bytes. The register has the bytes as lanes of its type.

        offset: in elements
        dist: str
        """

    @staticmethod
    def vldsx2(
        src: Tile,
        offset: int,
        dist: str,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """Load two registers: the even and the odd elements, or blocks, of 512 bytes.

        offset: in elements
        dist: str
        """

    @staticmethod
    def vldus(
        src: Tile,
        state: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """Load a register from any address of an element."""

    @staticmethod
    def vln(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = ln src[i], as `tlog` computes it. Lanes without the mask become 0."""

    @staticmethod
    def vlrelu(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = src[i], times `scalar` if it is negative. Lanes without the mask become 0."""

    @staticmethod
    def vmadd(
        acc: LaneRegister,
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = acc[i] * lhs[i] + rhs[i], the product not rounded. Other lanes become 0."""

    @staticmethod
    def vmax(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = max(lhs[i], rhs[i]), NaN if one is. Lanes without the mask become 0."""

    @staticmethod
    def vmaxs(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = max(src[i], scalar), NaN if one is. Lanes without the mask become 0."""

    @staticmethod
    def vmin(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = min(lhs[i], rhs[i]), NaN if one is. Lanes without the mask become 0."""

    @staticmethod
    def vmins(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = min(src[i], scalar), NaN if one is. Lanes without the mask become 0."""

    @staticmethod
    def vmov(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = src[i] where the mask selects lane i, else 0."""

    @staticmethod
    def vmul(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = lhs[i] * rhs[i]; integers wrap. Lanes that the mask does not select become 0."""

    @staticmethod
    def vmula(
        acc: LaneRegister,
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = acc[i] + lhs[i] * rhs[i], the product not rounded. Other lanes become 0."""

    @staticmethod
    def vmull(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """The low and the high 32 bits of lhs[i] * rhs[i]. Other lanes become 0."""

    @staticmethod
    def vmuls(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = src[i] * scalar; integers wrap. Lanes without the mask become 0."""

    @staticmethod
    def vmulscvt(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        rnd: str,
        part: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """The lanes of src times a number, in half the width: in the even or the odd lanes of dst.

        The product is rounded to f32, and then as `rnd` says. All other lanes of dst are 0.

        rnd: str
        part: str
        """

    @staticmethod
    def vneg(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = -src[i]; integers wrap. Lanes that the mask does not select become 0."""

    @staticmethod
    def vnot(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = src[i] with every bit inverted. Lanes without the mask become 0."""

    @staticmethod
    def vor(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = the bits of lhs[i] or rhs[i]. Lanes that the mask does not select become 0."""

    @staticmethod
    def vors(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = the bits of src[i] or scalar. Lanes without the mask become 0."""

    @staticmethod
    def vpack(
        src: LaneRegister,
        part: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """The low halves of src's lanes in one half of dst; the other half is 0.

        part: str
        """

    @staticmethod
    def vprelu(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = lhs[i], times rhs[i] if it is negative. Lanes without the mask become 0."""

    @staticmethod
    def vrec(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = 1 / src[i]. Lanes that the mask does not select become 0."""

    @staticmethod
    def vrelu(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = max(src[i], 0). Lanes that the mask does not select become 0."""

    @staticmethod
    def vrsqrt(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = 1 / the square root of src[i], each rounded. Lanes without the mask become 0."""

    @staticmethod
    def vscatter(
        src: LaneRegister,
        dst: Tile,
        index: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Element index[i] behind `dst` becomes src[i] where the mask selects lane i.

        Of elements of 8 bits it is src[2 * i]: there are 128 indices, and a mask of 16 bits. Of equal
        indices the last one wins; hardware leaves open which does.
        """

    @staticmethod
    def vsel(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = lhs[i] where the mask selects lane i, else rhs[i]."""

    @staticmethod
    def vselr(
        src: LaneRegister,
        index: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = src[index[i]]; of an index the low bits count."""

    @staticmethod
    def vshl(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = lhs[i] shifted left by rhs[i] bits: 0 for its width or more."""

    @staticmethod
    def vshls(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = src[i] shifted left by `scalar` bits. Lanes without the mask become 0."""

    @staticmethod
    def vshr(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = lhs[i] shifted right by rhs[i] bits: arithmetically if it has a sign."""

    @staticmethod
    def vshrs(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = src[i] shifted right by `scalar` bits: arithmetically if it has a sign."""

    @staticmethod
    def vsldb(
        src: Tile,
        block: int,
        repeat: int,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """Load eight blocks; block i becomes 0 if lane i of the mask is not selected."""

    @staticmethod
    def vsqrt(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = the square root of src[i]. Lanes that the mask does not select become 0."""

    @staticmethod
    def vsqz(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """The lanes that the mask selects, moved to the front in their order; the rest is 0."""

    @staticmethod
    def vsstb(
        src: LaneRegister,
        dst: Tile,
        block: int,
        repeat: int,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Store eight blocks; block i stays as it is if lane i of the mask is not selected."""

    @staticmethod
    def vstar(
        state: LaneRegister,
        dst: Tile,
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Store what unaligned stores have left in the state: ptokit has stored it already."""

    @staticmethod
    def vstas(
        state: LaneRegister,
        dst: Tile,
        offset: int,
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Store what unaligned stores have left in the state: ptokit has stored it already.

        offset: in elements
        """

    @staticmethod
    def vsts(
        src: LaneRegister,
        dst: Tile,
        offset: int,
        mask: LaneRegister,
        dist: str | None = ...,
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Store the lanes of a register that a mask selects, as `dist` says.

        1PT_B8, 1PT_B16 and 1PT_B32 store the first element alone, whatever the mask says. PK_B16,
        PK_B32 and PK_B64 store the lower half of each element, PK4_B32 its low byte, contiguously.

        offset: in elements
        dist: str
        """

    @staticmethod
    def vstsx2(
        low: LaneRegister,
        high: LaneRegister,
        dst: Tile,
        offset: int,
        mask: LaneRegister,
        dist: str,
        *,
        dtype: ElementType | None = ...,
    ) -> None:
        """Store the elements of two registers in turns; the mask has no effect.

        offset: in elements
        dist: str
        """

    @overload
    @staticmethod
    def vstur(
        state: LaneRegister,
        src: LaneRegister,
        dst: Tile,
        mode: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """Store the lanes of the last squeeze, at `dst` and as many bytes on as AR has.

        With POST_UPDATE AR grows by the bytes that are stored. Hardware keeps the last bytes in the
        state until `vstar` stores them; ptokit stores all at once.

        mode: str
        """

    @overload
    @staticmethod
    def vstur(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = the number of lanes that a mask selects."""

    @staticmethod
    def vstus(
        state: LaneRegister,
        offset: int,
        src: LaneRegister,
        dst: Tile,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """Store the first `offset` elements of a register at any address of an element.

        Hardware keeps the last bytes in the state until `vstas` or `vstar` stores them; ptokit stores
        all at once.

        offset: elements by which the stream goes on
        """

    @staticmethod
    def vsub(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = lhs[i] - rhs[i]; integers wrap. Lanes that the mask does not select become 0."""

    @staticmethod
    def vsubc(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """dst[i] = lhs[i] - rhs[i] without sign; carry[i] is 1 where nothing is borrowed."""

    @staticmethod
    def vsubcs(
        lhs: LaneRegister,
        rhs: LaneRegister,
        carry_in: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> tuple[LaneRegister, LaneRegister]:
        """dst[i] = lhs[i] - rhs[i] - 1 + carry_in[i] without sign; carry[i]: nothing is borrowed."""

    @staticmethod
    def vsubrelu(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = max(lhs[i] - rhs[i], 0), 0 for NaN. Lanes without the mask become 0."""

    @staticmethod
    def vsubs(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = src[i] - scalar; integers wrap. Lanes without the mask become 0."""

    @staticmethod
    def vsunpack(
        src: LaneRegister,
        part: int,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """The lanes of one half of src in twice the width, with their sign."""

    @staticmethod
    def vtrc(
        src: LaneRegister,
        mask: LaneRegister,
        rnd: str,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = src[i] rounded to a whole number. Lanes that the mask does not select become 0.

        rnd: str
        """

    @staticmethod
    def vusqz(
        src: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = the number of lanes before i that the mask selects; src has no effect."""

    @staticmethod
    def vxor(
        lhs: LaneRegister,
        rhs: LaneRegister,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = the bits of either lhs[i] or rhs[i]. Lanes without the mask become 0."""

    @staticmethod
    def vxors(
        src: LaneRegister,
        scalar: float,
        mask: LaneRegister,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """dst[i] = the bits of either src[i] or scalar. Lanes without the mask become 0."""

    @staticmethod
    def vzunpack(
        src: LaneRegister,
        part: int,
        *,
        dtype: ElementType | None = ...,
    ) -> LaneRegister:
        """The lanes of one half of src in twice the width, filled up with zeros."""

lanes: LaneNames
