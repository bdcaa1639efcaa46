"""The enumerations of the ISA: the values of attributes, locations and pipes.

Each member carries every spelling that exists: in text, in C++, and short for Python.
"""

from __future__ import annotations

from enum import Enum

from ptokit.values.enumerations import Word


class PadMode(Word, mlir="padmode"):
    """The padding of a load."""

    NULL = ("PadNull", "", "null")
    FIRST_ELEM = ("PadFirstElem", "", "first")
    VALUE = ("PadValue", "", "value")


class LoadCachePolicy(Word, mlir="load_cache_policy"):
    """The L2 cache policy of a load: the default, or without leaving data in L2."""

    DEFAULT = ("default", "", "default")
    L2_BYPASS = ("l2_bypass", "", "l2_bypass")


class CompactMode(Word, mlir="compact_mode", cpp_type="CompactMode"):
    """Payload packing of an L0 image on hardware; a simulator's offsets do not depend on it."""

    NULL = "null", "Null"
    NORMAL = "normal", "Normal"
    ROW_PLUS_ONE = "row_plus_one", "RowPlusOne"
    ROW_ALIGNED_PADDING = "row_aligned_padding", "RowAlignedPadding"


class Pipe(Word, mlir="pipe", cpp_type="pipe_t"):
    """The hardware queue that executes an instruction."""

    S = "PIPE_S", "PIPE_S", "S"
    V = "PIPE_V", "PIPE_V", "V"
    M = "PIPE_M", "PIPE_M", "M"
    MTE1 = "PIPE_MTE1", "PIPE_MTE1", "MTE1"
    MTE2 = "PIPE_MTE2", "PIPE_MTE2", "MTE2"
    MTE3 = "PIPE_MTE3", "PIPE_MTE3", "MTE3"
    FIX = "PIPE_FIX", "PIPE_FIX", "FIX"
    ALL = "PIPE_ALL", "PIPE_ALL", "ALL"  # every pipe: a barrier only


S, V, M, FIX = Pipe.S, Pipe.V, Pipe.M, Pipe.FIX
MTE1, MTE2, MTE3 = Pipe.MTE1, Pipe.MTE2, Pipe.MTE3
# Pairs of pipes whose flag 0 an instruction of several hardware instructions uses itself.
INNER_PAIRS = frozenset({(V, S), (S, V), (MTE2, S), (S, MTE3), (MTE3, S), (V, MTE3), (MTE3, V)})


class KernelKind(Word, mlir="kernel_kind", cpp_type="KernelKind"):
    """The kind of core: the one of the cube unit, AIC, or the one of the vector unit, AIV."""

    CUBE = "cube", "CUBE", "aic"
    VECTOR = "vector", "VECTOR", "aiv"


CUBE, VECTOR = KernelKind.CUBE, KernelKind.VECTOR
# the signals with which all cores of some kinds synchronise
MEETING_SIGNALS: dict[tuple[KernelKind, ...], tuple[int, ...]] = {
    (VECTOR,): (14,),
    (CUBE,): (11,),
    (CUBE, VECTOR): (11, 12, 13),
}


class AccToVecMode(Word, mlir="acc_to_vec_mode", cpp_type="AccToVecMode"):
    """The vector core that receives an accumulator window, or its split over both."""

    SINGLE_VEC0 = "single_mode_vec0", "SingleModeVec0"
    SINGLE_VEC1 = "single_mode_vec1", "SingleModeVec1"
    DUAL_SPLIT_M = "dual_mode_split_m", "DualModeSplitM"
    DUAL_SPLIT_N = "dual_mode_split_n", "DualModeSplitN"


class AtomicType(Word, mlir="atomic_type", cpp_type="AtomicType", bare=True):
    """The combination of a stored value with the value in memory."""

    NONE = "atomic_none", "AtomicNone", "none"
    ADD = "atomic_add", "AtomicAdd", "add"


class Phase(Word, mlir="st_phase", cpp_type="STPhase", bare=True, numbers=(0, 2, 3)):
    """Unit flag of moves and stores out of acc: wait for products, with FINAL let them continue."""

    UNSPECIFIED = "unspecified", "Unspecified"
    PARTIAL = "partial", "Partial"
    FINAL = "final", "Final"


class AccPhase(Word, mlir="acc_phase", cpp_type="AccPhase", bare=True, numbers=(0, 2, 3)):
    """Unit flag of matrix instructions: wait for moves out of acc, with FINAL let them continue."""

    UNSPECIFIED = "unspecified", "Unspecified"
    PARTIAL = "partial", "Partial"
    FINAL = "final", "Final"


class GlobalLayout(
    Word,
    mlir="layout",
    cpp_type="Layout",
    numbers=(0, 1, 2, 6, 4, 5, 9, 7, 8, 12, 19, 17, 14, 18, 16),
):
    """The layout by which the five extents of a global tensor form a matrix."""

    ND = "nd", "ND"
    DN = "dn", "DN"
    NZ = "nz", "NZ"
    MX_A_ZZ = "mx_a_zz", "MX_A_ZZ"
    MX_A_ND = "mx_a_nd", "MX_A_ND"
    MX_A_DN = "mx_a_dn", "MX_A_DN"
    MX_B_NN = "mx_b_nn", "MX_B_NN"
    MX_B_ND = "mx_b_nd", "MX_B_ND"
    MX_B_DN = "mx_b_dn", "MX_B_DN"
    NC1HWC0 = "nc1hwc0", "NC1HWC0"
    FRACTAL_Z = "fractal_z", "FRACTAL_Z"
    NDC1HWC0 = "ndc1hwc0", "NDC1HWC0"
    NCHW = "nchw", "NCHW"
    NCDHW = "ncdhw", "NCDHW"
    NHWC = "nhwc", "NHWC"


class TInsertMode(Word, mlir="tinsert_mode", cpp_type="TInsertMode", numbers=(2, 3)):
    """The number of parts in which an insert into L1 is issued; no effect on data."""

    SPLIT2 = "split2", "SPLIT2"
    SPLIT4 = "split4", "SPLIT4"


class MaskPattern(Word, mlir="mask_pattern", cpp_type="MaskPattern", numbers=range(1, 8)):
    """The indices that a masked gather selects; the digits count from the right."""

    P0101 = "P0101", "P0101"
    P1010 = "P1010", "P1010"
    P0001 = "P0001", "P0001"
    P0010 = "P0010", "P0010"
    P0100 = "P0100", "P0100"
    P1000 = "P1000", "P1000"
    P1111 = "P1111", "P1111"

    @property
    def period(self) -> int:
        """The period after which the selected indices repeat."""
        return {"P0101": 2, "P1010": 2, "P1111": 1}.get(self.text, 4)

    @property
    def first(self) -> int:
        """The selected index within a period."""
        return self.text[::-1].index("1")


class GatherAxis(Word, mlir="gather_axis", cpp_type="GatherAxis"):
    """The axis of a masked gather: columns of each row, or whole rows."""

    ROW = "row", "GATHER_ROW"
    COL = "col", "GATHER_COL"


class ScatterAxis(Word, mlir="scatter_axis", cpp_type="ScatterAxis"):
    """The axis of a masked scatter: columns of each row, or whole rows."""

    ROW = "row", "SCATTER_ROW"
    COL = "col", "SCATTER_COL"


class CmpMode(Word, mlir="cmp", cpp_type="CmpMode", bare=True):
    """The comparison of elements."""

    EQ = "eq", "EQ", "eq", "equal"
    NE = "ne", "NE", "ne", "not_equal"
    LT = "lt", "LT", "lt", "less_than"
    LE = "le", "LE", "le", "less_equal"
    GT = "gt", "GT", "gt", "greater_than"
    GE = "ge", "GE", "ge", "greater_equal"


class RoundMode(Word, mlir="round_mode", cpp_type="RoundMode", bare=True):
    """The rounding of a value between two neighbours in a conversion."""

    NONE = "NONE", "CAST_NONE", "none"
    RINT = "RINT", "CAST_RINT", "rint"
    ROUND = "ROUND", "CAST_ROUND", "round"
    FLOOR = "FLOOR", "CAST_FLOOR", "floor"
    CEIL = "CEIL", "CAST_CEIL", "ceil"
    TRUNC = "TRUNC", "CAST_TRUNC", "trunc"
    ODD = "ODD", "CAST_ODD", "odd"


class ShortF32(Word, mlir="short_f32", cpp_type="ShortF32"):
    """The mantissa bits that a product keeps of each f32, and the rounding to them."""

    RINT_10 = "rint_10", "RINT_10"
    ROUND_10 = "round_10", "ROUND_10"
    RINT_11 = "rint_11", "RINT_11"
    ROUND_11 = "round_11", "ROUND_11"


class SaturationMode(Word, mlir="saturation_mode", cpp_type="SaturationMode", bare=True):
    """The treatment of a value out of range in a conversion: the nearest value, or overflow."""

    ON = "ON", "ON", "on"
    OFF = "OFF", "OFF", "off"


class Symmetric(Word, mlir="quant_type", cpp_type="QuantType", bare=True, numbers=(2,)):
    """A quantisation to i8 about 0."""

    INT8 = "INT8_SYM", "INT8_SYM", "int8_sym"


class Asymmetric(Word, mlir="quant_type", cpp_type="QuantType", bare=True, numbers=(3,)):
    """A quantisation to u8 about an offset."""

    INT8 = "INT8_ASYM", "INT8_ASYM", "int8_asym"


class MxFormat(Word, mlir="quant_type", cpp_type="part of MxQuantAlg", bare=True):
    """The element format that a quantisation by groups produces."""

    FP8 = "MXFP8", "Fp8E4M3", "mxfp8", "OcpMxFp8E4M3", "NvMxFp8E4M3"
    FP4 = "MXFP4_E2M1", "Fp4E2M1", "mxfp4_e2m1", "OcpMxFp4E2M1", "NvMxFp4E2M1"


class MxFp8(Word, mlir="quant_type", cpp_type="QuantType", bare=True):
    """The element format that the older function for quantisations by groups produces."""

    FP8 = "MXFP8", "MXFP8", "mxfp8"


class MxScale(Word, mlir="quant_scale_alg", cpp_type="part of MxQuantAlg", bare=True):
    """The exponent of a group in a quantisation by groups: OCP truncates, NV rounds up."""

    OCP = "OCP", "Ocp", "ocp", "OcpMxFp8E4M3", "OcpMxFp4E2M1"
    NV = "NV", "Nv", "nv", "NvMxFp8E4M3", "NvMxFp4E2M1"


class VecStoreMode(Word, mlir="vec_store_mode", cpp_type="VecStoreMode", bare=True):
    """The stores of a quantisation by groups: NZ also stores the exponents for a product."""

    ND = "ND", "ND", "nd"
    NZ = "NZ", "NZ", "nz"


class GroupAxis(Word, mlir="mx_group_axis", bare=True):
    """The axis along which the elements of a group lie: down a column, along a row."""

    DOWN = "axis0", "0"
    ALONG = "axis1", "1"


class Order(Enum):
    """A reading of the order in which floats are added: D8 and E33 of the disputes.

    A product starts with the accumulator, except in RECORDED, which adds it last. A row is added
    from left to right, in f32 (CPU, RECORDED) or in its own type (LEFT), or as the chips do, in
    trees.
    """

    CPU = "cpu"
    RECORDED = "recorded"
    LEFT = "left"
    A2A3 = "a2a3"
    A5 = "a5"


class ScatterOOB(Word, mlir="scatter_oob", cpp_type="ScatterOOB", bare=True, numbers=(1, 2, 3, 0)):
    """The treatment of an element whose index lies outside the destination."""

    SKIP = "skip", "Skip"
    CLAMP = "clamp", "Clamp"
    WRAP = "wrap", "Wrap"
    ERROR = "undefined", "Undefined", "error"


class PrintFormat(Word, mlir="print_format", cpp_type="PrintFormat"):
    """The width of a printed number, and its decimal places."""

    WIDTH8_PRECISION4 = "width8_precision4", "Width8_Precision4"
    WIDTH8_PRECISION2 = "width8_precision2", "Width8_Precision2"
    WIDTH10_PRECISION6 = "width10_precision6", "Width10_Precision6"

    @property
    def places(self) -> tuple[int, int]:
        return (10, 6) if "10" in self.text else (8, int(self.text[-1]))


class Coalesce(Word, mlir="coalesce", cpp_type="Coalesce", bare=True, numbers=(1, 0)):
    """The unit of indices: elements or rows of global memory."""

    ELEM = "elem", "Elem"
    ROW = "row", "Row"


class AtomicOp(Word, mlir="scatter_atomic_op", cpp_type="ScatterAtomicOp", bare=True):
    """The combination of a scattered element with the element in memory."""

    NONE = "none", "None"
    ADD = "add", "Add"
    MAX = "max", "Max"
    MIN = "min", "Min"


class ScatterConflict(Word, mlir="scatter_conflict", cpp_type="ScatterConflict", numbers=(1, 0)):
    """The element that remains if several have one index."""

    DEFAULT = "default", "Default"
    LAST = "last", "Last"
