"""The C interface between a compiled kernel and the host: 64-bit words in one buffer.

A library exports `ptokit_words` (the buffer), `ptokit_place` (see `PlaceWord`), and two function
pointers that the host sets. `ptokit_issue(count)` is called with the first `count` words of the
buffer filled: `[name, return address, n, ...]`. A name from FIRST_INTRINSIC on is an intrinsic: `n`
counts its template arguments, which come first, and all arguments are tagged values. Smaller names
are special calls, whose `n` is 0 and whose words `SpecialCall` lists. The host returns STOP to end
the core: the library throws, and `ptokit_run` catches. `ptokit_memory(address, nbytes)` tells of
memory that the program allocated (nbytes < 0: freed).

The library also exports `int64_t ptokit_run(body, kind)`, which runs the body that LAUNCH names and
returns 0, or 1 where the core was stopped. A library that was compiled for one launch exports
`ptokit_parameters()`, the address of `[count, tag, element type or bytes, ...]` for the kernel's
parameters (POINTER, INTEGER, REAL or OTHER), and `ptokit_start(blocks, arguments)`, which launches
the kernel with one word for each parameter: an address, an integer, the bits of a double, or for
OTHER the address of the value.

The tables here are printed into the generated header.
"""

from __future__ import annotations

from enum import IntEnum

from ptokit.values.dtypes import DTYPES

WORDS = 4096  # in the buffer
HEAD = 3  # words of a call before its arguments: name, return address, count of template arguments
FIRST_INTRINSIC = 64
STOP = -1  # what the host returns to end the core
# Numbers of element types: the position in DTYPES, and these of C++ alone. In the place of a type
# that has no number stands the address of a text with its name.
BOOL, DOUBLE, VOID = 64, 65, 66
ELEMENTS = {dtype.cpp: number for number, dtype in enumerate(DTYPES)}
EXTENTS = 5  # of a view of global memory
CONV_EXTENTS, CONV_SETTINGS = 8, 24


class Tag(IntEnum):
    """The kind of a tagged value: the first of its words. `LENGTHS` counts the words.

    `object` is the address of the C++ object's own words, which the host may write: of a tile
    `[address, valid rows, valid columns]`, of a view `[pointer]`, of a pipe what `PIPE_OPEN` says.
    An address of -1 is none: the host chooses one and writes it to the object.
    """

    TILE = 1  # type id, address, valid rows, valid columns, object
    GLOBAL = 2  # element type, layout, pointer, 5 extents, 5 strides, object
    CONV = 3  # type id, address, 8 extents, 24 settings (`ConvSetting`), object
    INTEGER = 4  # element type or BOOL, value
    REAL = 5  # element type or DOUBLE, bits of the value as a double
    WORD = 6  # number of the enumeration (`headers.enumerations`), value
    POINTER = 7  # element type or VOID, address
    TYPE = 8  # element type that is a template argument; types of operands are left out
    NUMBERS = 9  # element type, address, count: an array or struct of numbers that may be written
    PIPE = 10  # id that PIPE_OPEN gave, object
    GROUP = 12  # count, root: of so many GLOBAL values that follow, the parts of ranks
    OTHER = 11  # the text with the name of its type, bytes: a value that no instruction takes


LENGTHS: dict[Tag, int] = {
    Tag.TILE: 6,
    Tag.GLOBAL: 5 + 2 * EXTENTS,
    Tag.CONV: 4 + CONV_EXTENTS + CONV_SETTINGS,
    Tag.INTEGER: 3,
    Tag.REAL: 3,
    Tag.WORD: 3,
    Tag.POINTER: 3,
    Tag.TYPE: 2,
    Tag.NUMBERS: 4,
    Tag.PIPE: 3,
    Tag.OTHER: 3,
    Tag.GROUP: 3,
}


class ConvSetting(IntEnum):
    """The settings of a convolution tile by their positions; PAD_VALUE is the bits of a double."""

    FMAP_H = 0
    FMAP_W = 1
    CHANNELS = 2
    FILTER_H = 3
    FILTER_W = 4
    STRIDE_H = 5
    STRIDE_W = 6
    DILATION_H = 7
    DILATION_W = 8
    PAD_LEFT = 9
    PAD_RIGHT = 10
    PAD_TOP = 11
    PAD_BOTTOM = 12
    PAD_VALUE = 13
    REPEAT_STRIDE = 14
    REPEAT_TIMES = 15
    REPEAT_MODE = 16
    DST_STRIDE = 17
    DST_POSITION = 18
    TRANSPOSE = 19


class SpecialCall(IntEnum):
    """Calls that are no intrinsics, each with its words from HEAD on and what the host returns.

    A text is the address of a C string. Words of enumerations are their C++ numbers.
    """

    # location, element type, rows, cols, BLayout, SLayout, fractal, pad, compact, valid rows,
    # valid cols (-1: dynamic) -> type id; once for each type, the ids stay for the process
    TILE_TYPE = 1
    CONV_TYPE = 2  # location, element type, elements of the buffer, layout, rank -> type id
    # name (a text), blocks, body, body of the cube's text (0: the kernel is not mixed) -> 0; STOP
    # ends the function that launched; the host calls `ptokit_run(body, kind)` for each block and
    # core while this call is open
    LAUNCH = 3
    SPACE = 4  # location -> address in this process of that memory of the running core
    PLACE = 5  # location, offset, bytes: the scalar unit wrote them
    VALUE = 6  # location, offset, bytes: the scalar unit is about to read them
    # object, flag id, direction, bytes of a slot, slots, slots in local memory, no split (0, 1),
    # unit flag (0, 1), pointer of the slots in global memory, address for the vector core,
    # address for the cube core -> id of the pipe
    PIPE_OPEN = 7
    FLAG_SET = 8  # source pipe, target pipe, event id
    FLAG_WAIT = 9  # source pipe, target pipe, event id
    BARRIER = 10  # pipe
    SIGNAL = 11  # way (`FlagWay`), pipe, id, mode: a flag for other cores
    AWAIT = 12  # way, pipe, id, mode: wait for a flag of other cores
    DEVICE = 13  # name (a text), count, tagged values: a builtin of the device -> its value
    THROWN = 14  # text: the kernel threw a C++ exception behind its last call
    SYNCHRONISE = 15  # the host program waits for the device -> 0, or an error code of acl
    TRAP = 16  # text: the kernel gave up
    # TILE with its words, or CONV, type id, object: the kernel asks where a tile without an address
    # lies -> 0; the host writes the address to the object
    HOME = 17
    # source and target location (-1: global memory), place in the target and in the source (an
    # address, or an offset), vector core, lines, bytes of each, steps in the source and the target
    BURST = 19
    FILL = 20  # location, offset, lines, bytes of each, step, 32 bits: fill lines with a number
    SHORTEN = 21  # 0: products take whole f32; 1: round to nearest even, 2: ties away from 0


class FlagWay(IntEnum):
    """The kinds of flags between cores."""

    FFTS = 0
    INTRA_BLOCK = 1
    CROSS_BLOCK = 2


class PlaceWord(IntEnum):
    """The words of `ptokit_place`: the host writes them whenever another core goes on."""

    BLOCK_IDX = 0
    BLOCK_NUM = 1
    SUBBLOCK_ID = 2
    SUBBLOCK_NUM = 3
    KIND = 4  # `KernelText`


class KernelText(IntEnum):
    """Which text of a kernel `ptokit_run` is to run."""

    VECTOR_TEXT = 0  # the only text, or that of the vector cores
    CUBE_TEXT = 1


# What the fix-pipe may do with an element, with scales of one number or (V) of one for each column.
QUANTISATIONS = (
    *("NoQuant", "F322F16", "F322BF16", "DEQF16", "VDEQF16", "QF322B8_PRE", "VQF322B8_PRE"),
    *("QF162B8_PRE", "VQF162B8_PRE", "REQ8", "VREQ8", "QF162S4_PRE", "VQF162S4_PRE", "REQ4"),
    *("VREQ4", "DEQS16", "VDEQS16", "QF162S16_PRE", "VQF162S16_PRE", "QF322F16_PRE"),
    *("VQF322F16_PRE", "QF322BF16_PRE", "VQF322BF16_PRE", "QS322BF16_PRE", "VQS322BF16_PRE"),
    *("QF322HIF8_PRE", "VQF322HIF8_PRE", "QF322FP8_PRE", "VQF322FP8_PRE", "QF322F32_PRE"),
    *("VQF322F32_PRE", "SHIFTS322S16", "VSHIFTS322S16"),
)
# Members of public enumerations that no page takes, and enumerations that no attribute is.
FURTHER: dict[str, dict[str, int]] = {
    "TileType": {"Ctrl": 9},
    "PadValue": {"CustomBase": 1 << 32},
    "AccPhase": {"Unknown": 0},
    "Layout": {
        **{"SCALE": 3, "HIF4_A_ZZ": 10, "HIF4_B_NN": 11},
        **{"FRACTAL_Z_S16S8": 20, "MAX": 22},
    },
    "QuantType": {"MXFP4_E2M1": 1},
    "QuantScaleAlg": {"OCP": 0, "NV": 1},
    "MxQuantAlg": {
        **{"OcpMxFp8E4M3": 0, "NvMxFp8E4M3": 1, "OcpMxFp4E2M1": 2, "NvMxFp4E2M1": 3},
        "Hif4": 4,
    },
    "GatherExec": {"Scalar": 0, "Simt": 1},
    "HistByte": {f"BYTE_{n}": n for n in range(4)},
    "TFillPadMode": {"Normal": 0, "InPlace": 1, "Expand": 2},
    "TCopyMode": {"SHALLOW_COPY": 0, "DEEP_COPY": 1},
    "FmodSAlgorithm": {"DEFAULT": 0, "HIGH_PRECISION": 1},
    "RemSAlgorithm": {"DEFAULT": 0, "HIGH_PRECISION": 1},
    "TileLayoutCustom": {n: i for i, n in enumerate(("ND", "DN", "NZ", "ZN", "ZZ", "NONE"))},
    "TileSplitAxis": {
        **{"TILE_NO_SPLIT": 0, "TILE_UP_DOWN": 1, "TILE_LEFT_RIGHT": 2},
        **{"TILE_UP_DOWN_ODD": 3, "TILE_LEFT_RIGHT_ODD": 4},
    },
    "Direction": {
        **{"UNDEFINED": 0, "DIR_C2V": 1, "DIR_V2C": 2, "DIR_BOTH": 3, "DIR_V2C_CTRL": 4},
        **{"DIR_C2V_GM": 5, "DIR_V2C_GM": 6, "DIR_BOTH_GM": 7},
    },
    "LayoutMode_t": {"NZ2NZ": 0, "NZ2ND": 1, "NZ2DN": 2},
    "ClipReluMode_t": {"NOCLIP_RELU": 0, "CLIP_RELU": 1},
    "QuantMode_t": {name: number for number, name in enumerate(QUANTISATIONS)},
    "VFImplKind": {
        **{"VFIMPL_DEFAULT": 0, "VFIMPL_1D_NO_POST_UPDATE": 1, "VFIMPL_2D_NO_POST_UPDATE": 2},
        **{"VFIMPL_1D_POST_UPDATE": 3, "VFIMPL_2D_POST_UPDATE": 4},
    },
}
# How a chip does what it does anyway.
IDLE = frozenset({"GatherExec"})
UNSCOPED = frozenset(
    {"TileSplitAxis", "Direction", "VFImplKind", "QuantMode_t"}
)  # and those of the device


def is_devices(enumeration: str) -> bool:
    """True if an enumeration belongs to the device's compiler: `pipe_t`, outside of namespaces."""
    return enumeration.endswith("_t") and enumeration.islower()
