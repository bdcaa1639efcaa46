"""What a compiled kernel tells the host: each kind of argument, the special calls, stops."""

from __future__ import annotations

from pathlib import Path

import pytest
from issued import Issued, Listener, real, tagged

from ptokit.api.cxx.callwords import BOOL, CONV_EXTENTS, DOUBLE, ConvSetting, PlaceWord, Tag
from ptokit.api.cxx.compiler import Build, library
from ptokit.api.cxx.foundcompiler import found_compiler
from ptokit.api.cxx.headers import enumerations
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.words import Pipe
from ptokit.values.dtypes import DTYPES
from ptokit.values.enumerations import Loc

NUMBER = {dtype.name: number for number, dtype in enumerate(DTYPES)}
KINDS = {name: number for number, name in enumerate(enumerations(), 1)}


@pytest.fixture(scope="module")
def heard() -> Listener:
    try:
        found_compiler()
    except PtoError as problem:
        pytest.skip(str(problem))
    source = Path(__file__).with_name("words.cpp")
    return Listener(library([source], Build(TARGETS["a5"]), "all"))


def word(kind: str, member: str) -> tuple[int, ...]:
    return Tag.WORD, KINDS[kind], enumerations()[kind][member]


def calls(found: list[Issued], name: str = "TABS") -> list[Issued]:
    return [call for call in found if call.name == name]


def test_tiles_have_addresses_and_valid_regions(heard: Listener) -> None:
    first, second, third = calls(heard.all(0, 0, 0))
    (a, b), (c, d), (e, left) = first.values, second.values, third.values
    assert [v[0] for v in (a, b, c, d, e, left)] == [Tag.TILE] * 6
    assert (a[2:5], b[2:5]) == ((0x100, 16, 64), (0x200, 3, 5))
    assert (c[2:5], d[2:5]) == ((-1, 16, 7), (0x200, 3, 4))
    assert (e[2], left[2:5]) == (0x120, (0, 32, 16))  # `data()` gave an address; numbers do too
    assert a[1] == e[1] != b[1] == d[1]
    by_place = {kind[0]: kind for kind in heard.types()}
    columns = (Loc.LEFT, NUMBER["f16"], 32, 16, 1, 1, 512, 0, 0, 32, 16)
    assert by_place[2] == (2, *columns[1:])  # the location by its number
    heard.all(0, 0, 0)
    assert heard.types() == []  # a type is told once


def test_views_have_five_extents_and_strides(heard: Listener) -> None:
    first, second = calls(heard.all(1, 4096, 64))
    (a, b), (moved, c) = first.values, second.values
    assert a[:14] == (Tag.GLOBAL, NUMBER["f32"], 0, 4096, 1, 1, 1, 65, 8, 8, 8, 8, 8, 1)
    assert b[:14] == (Tag.GLOBAL, NUMBER["i8"], 1, 4096, 1, 2, 3, 4, 64, 9, 8, 7, 6, 5)
    assert moved[3] == 4096 + 64
    assert c[:4] == (Tag.GLOBAL, NUMBER["f16"], enumerations()["Layout"]["NZ"], 4096 + 8)
    assert c[4:14] == (1, 4, 2, 16, 16, 32 * 64, 32 * 16, 256, 16, 1)


def test_numbers_have_their_types(heard: Listener) -> None:
    first, second = calls(heard.all(2, 0, 0))
    integers = [v[1:] for v in first.values if v[0] == Tag.INTEGER]
    assert integers == [(NUMBER["i8"], -1), (NUMBER["u16"], 65535), (BOOL, 1), (NUMBER["i8"], 97)]
    reals = [(v[1], real(v[2])) for v in first.values if v[0] == Tag.REAL]
    kinds = [NUMBER[n] for n in ("f32", "f16", "bf16")]
    assert reals == [*zip(kinds, (1.5, 0.5, 2.0), strict=True), (DOUBLE, 0.1)]
    key, counts, pointer, mode, pad = second.values
    assert (key[:2], key[3]) == ((Tag.NUMBERS, NUMBER["u32"]), 2)
    assert (counts[:2], counts[3]) == ((Tag.NUMBERS, NUMBER["u16"]), 4)
    assert pointer == (Tag.POINTER, NUMBER["f32"], 0)
    assert mode == word("RoundMode", "CAST_ODD")
    assert pad[2] == 1 << 32 | 0xBF800000


def test_template_arguments_stand_first_and_types_of_operands_are_left_out(heard: Listener) -> None:
    mixed, valued, typed, inner = calls(heard.all(3, 0, 0))
    number = (Tag.INTEGER, NUMBER["i32"], 3)
    half, final = (Tag.TYPE, NUMBER["f16"]), word("STPhase", "Final")
    assert mixed.values[: mixed.chosen] == [half, final, (Tag.INTEGER, BOOL, 1), number]
    assert valued.values[: valued.chosen] == [word("AccPhase", "Partial")]
    assert (typed.chosen, typed.values) == (1, [half, (Tag.INTEGER, NUMBER["i32"], 2)])
    assert (inner.chosen, len(inner.values)) == (0, 1)


def test_events_are_flags_with_ids_in_turn(heard: Listener) -> None:
    pipes = {pipe: number for number, pipe in enumerate(Pipe)}
    load, vector, store = pipes[Pipe.MTE2], pipes[Pipe.V], pipes[Pipe.MTE3]
    for _ in range(2):  # each launch counts anew
        found = [(c.name, *c.values[0]) for c in heard.all(4, 0, 0) if c.name != "TABS"]
        assert found[:6] == [
            *(("FLAG_SET", load, vector, n) for n in (0, 1, 5)),
            *(("FLAG_WAIT", load, vector, n) for n in (0, 1, 5)),
        ]
        # one pipe: a barrier, but of the vector pipe, which works in order
        assert found[6] == ("BARRIER", store)
        assert found[7] == ("BARRIER", store)
        assert found[8:] == [
            ("FLAG_SET", pipes[Pipe.MTE1], pipes[Pipe.M], 3),
            ("BARRIER", pipes[Pipe.ALL]),
            ("FLAG_SET", vector, pipes[Pipe.S], 0),
            ("FLAG_WAIT", vector, pipes[Pipe.S], 0),
        ]
    order = [c.name for c in heard.calls]
    assert order.index("FLAG_WAIT") > order.index("FLAG_SET")


def test_elements_are_read_and_written_in_the_memory_of_the_chip(heard: Listener) -> None:
    heard.buffer[0x40 + 8 : 0x40 + 12] = b"\0\0\x80?"  # 1.0
    found = [(c.name, c.values[0]) for c in heard.all(5, 0, 0)]
    assert found[:2] == [("VALUE", (0, 0x48, 4)), ("PLACE", (0, 0x4C, 4))]
    assert heard.buffer[0x40 + 12 : 0x40 + 16] == b"\0\0\0@"  # 2.0
    assert found[2][0] == "HOME"
    assert (found[3], found[4][1][2]) == (("PLACE", (0, 0x300, 4)), 0x300)


def test_fifos_are_opened_with_what_their_type_says(heard: Listener) -> None:
    opened, push, free = heard.all(6, 8192, 0)
    assert opened.values[0][1:] == (2, 1, 1024, 4, 2, 0, 0, 8192, 0x10, 0x20)
    pipe, tile = push.values[-2:]
    assert (push.name, push.values[0]) == ("TPUSH", word("TileSplitAxis", "TILE_UP_DOWN"))
    assert (pipe[0], tile[0], tile[2]) == (Tag.PIPE, Tag.TILE, -1)
    assert (free.name, free.values[-1][:2]) == ("TFREE", pipe[:2])


def test_convolution_tiles_have_their_settings(heard: Listener) -> None:
    (conv,) = calls(heard.all(7, 0, 0))[0].values
    extents, settings = conv[3 : 3 + CONV_EXTENTS], conv[3 + CONV_EXTENTS : -1]
    assert (conv[0], conv[2], extents) == (Tag.CONV, 0x80, (1, 2, 4, 4, 16, 1, 1, 1))
    assert (settings[ConvSetting.FMAP_H], settings[ConvSetting.STRIDE_H]) == (4, 1)
    assert settings[ConvSetting.PAD_LEFT : ConvSetting.PAD_VALUE] == (1, 2, 3, 4)
    assert real(settings[ConvSetting.PAD_VALUE]) == 2.0


def test_signals_and_builtins(heard: Listener) -> None:
    found = [(c.name, c.values[0]) for c in heard.all(8, 0, 0)]
    pipes = {pipe: number for number, pipe in enumerate(Pipe)}
    assert found[:4] == [
        ("SIGNAL", (0, pipes[Pipe.MTE3], 7, 2)),
        ("AWAIT", (0, pipes[Pipe.S], 3, 0)),
        ("SIGNAL", (1, pipes[Pipe.FIX], 17, 0)),
        ("AWAIT", (2, pipes[Pipe.V], 4, 0)),
    ]
    name, words = found[4]
    assert (name, words[1], [v[0] for v in tagged([*words[2:]])]) == (
        *("DEVICE", 2),
        [Tag.POINTER, Tag.WORD],
    )
    assert found[5] == ("SIGNAL", (0, pipes[Pipe.S], 5, 2))  # written to the registers of flags


def test_a_core_ends_where_the_host_says_so_and_with_a_reason(heard: Listener) -> None:
    heard.left.clear()
    heard.texts.clear()
    heard.all(9, 0, 0)
    heard.all(10, 0, 0)
    assert heard.texts == ["throws", "a reason", "traps", "trap"]
    heard.stops = "TABS"
    assert len(calls(heard.all(4, 0, 0))) == 1  # nothing behind it is issued
    heard.stops = ""
    assert heard.left == [1, 1, 1]


def test_blocks_know_their_places(heard: Listener) -> None:
    found = [[v[2] for v in c.values] for c in calls(heard.all(11, 0, 0))]
    assert found == [[0, 3, 0], [1, 3, 0], [2, 3, 0]]
    assert heard.place[PlaceWord.KIND] == 0


def test_memory_of_the_device_is_told(heard: Listener) -> None:
    heard.memory.clear()
    heard.all(12, 0, 0)
    (address, nbytes), freed = heard.memory
    assert (address % 512, nbytes, freed) == (0, 100, (address, -1))
