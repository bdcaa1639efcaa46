"""A host that only writes down what a library tells it: each call with its tagged values."""

from __future__ import annotations

import ctypes
import struct
from ctypes import c_int64
from pathlib import Path
from typing import NamedTuple

from ptokit.api.cxx.callwords import (
    FIRST_INTRINSIC,
    HEAD,
    LENGTHS,
    STOP,
    WORDS,
    KernelText,
    PlaceWord,
    SpecialCall,
    Tag,
)
from ptokit.api.cxx.headers import names

NAMES = {number: name for name, number in names().items()}
BASE = 1 << 40  # where the memories of the chip seem to lie


class Issued(NamedTuple):
    """A call: its name, how many arguments are of its template, its arguments, or plain words."""

    name: str
    chosen: int
    values: list[tuple[int, ...]]


def real(bits: int) -> float:
    return struct.unpack("d", struct.pack("q", bits))[0]


class Listener:
    """Loads a library and notes its calls; `stops` is the intrinsic that ends a core."""

    def __init__(self, library: Path) -> None:
        self.library = ctypes.CDLL(str(library))
        self.words = (c_int64 * WORDS).in_dll(self.library, "ptokit_words")
        self.place = (c_int64 * len(PlaceWord)).in_dll(self.library, "ptokit_place")
        self.run, self.start = self.library.ptokit_run, self.library.ptokit_start
        self.run.restype = self.start.restype = c_int64
        self.calls: list[Issued] = []
        self.texts: list[str] = []
        self.memory: list[tuple[int, int]] = []
        self.left: list[int] = []  # what each body gave
        self.stops = ""
        self._kept = [ctypes.CFUNCTYPE(c_int64, c_int64)(self._issue)]
        self._kept.append(ctypes.CFUNCTYPE(c_int64, c_int64, c_int64)(self._told))
        for name, function in zip(("ptokit_issue", "ptokit_memory"), self._kept, strict=True):
            slot = ctypes.c_void_p.in_dll(self.library, name)
            slot.value = ctypes.cast(function, ctypes.c_void_p).value

    def _told(self, address: int, nbytes: int) -> int:
        self.memory.append((address, nbytes))
        return 0

    def _issue(self, count: int) -> int:
        words = self.words[:count]
        if words[0] >= FIRST_INTRINSIC:
            name = NAMES[words[0]]
            self.calls.append(Issued(name, words[2], tagged(words[HEAD:])))
            return STOP if name == self.stops else 0
        special = SpecialCall(words[0])
        self.calls.append(Issued(special.name, 0, [tuple(words[HEAD:])]))
        return self._answer(special, words)

    def _answer(self, special: SpecialCall, words: list[int]) -> int:
        if special is SpecialCall.LAUNCH:
            self._launch(words)
        elif special in (SpecialCall.TILE_TYPE, SpecialCall.CONV_TYPE, SpecialCall.PIPE_OPEN):
            return len(self.calls)  # any number but 0
        elif special is SpecialCall.SPACE:
            return ctypes.addressof(self.buffer)
        elif special is SpecialCall.HOME:
            ctypes.c_int64.from_address(words[-1]).value = 0x300
        elif special in (SpecialCall.THROWN, SpecialCall.TRAP):
            self.texts.append((ctypes.string_at(words[HEAD]) or b"").decode())
            return STOP
        return 0

    buffer = ctypes.create_string_buffer(4096)

    def _launch(self, words: list[int]) -> None:
        self.texts.append((ctypes.string_at(words[HEAD]) or b"").decode())
        cube = words[HEAD + 3]
        for block in range(words[HEAD + 1]):
            self.place[:4] = [block, words[HEAD + 1], 0, 1]
            self.left.append(self.run(c_int64(words[HEAD + 2]), c_int64(KernelText.VECTOR_TEXT)))
            if cube:
                self.left.append(self.run(c_int64(cube), c_int64(KernelText.CUBE_TEXT)))

    def all(self, *arguments: int) -> list[Issued]:
        """Start the library's kernel; return the calls behind the launch that are no questions."""
        self.calls.clear()
        self.start(c_int64(1), (c_int64 * max(1, len(arguments)))(*arguments))
        asks = ("LAUNCH", "TILE_TYPE", "CONV_TYPE", "SPACE")
        return [call for call in self.calls if call.name not in asks]

    def types(self) -> list[tuple[int, ...]]:
        return [call.values[0] for call in self.calls if call.name == "TILE_TYPE"]


def tagged(words: list[int]) -> list[tuple[int, ...]]:
    """Return the values, each with its tag."""
    found: list[tuple[int, ...]] = []
    at = 0
    while at < len(words):
        end = at + LENGTHS[Tag(words[at])]
        found.append(tuple(words[at:end]))
        at = end
    assert at == len(words)
    return found
