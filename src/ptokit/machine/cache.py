"""Machine code from LLVM text, cached on disk by content."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import import_module
from threading import Lock
from typing import Any

from ptokit.machine import codefolder
from ptokit.machine.objectcode import ObjectFiles, ParsedModule, llvm

VERSION = f"4 {import_module('llvmlite').__version__}"
QUICK = "; compiled at level 0\n"  # the first line of a module of code that runs once
# modules call each other by absolute addresses, which is tried on this kind of machine only
LINKS = sys.platform == "linux" and os.uname().machine == "x86_64"


@dataclass(frozen=True)
class Processor:
    """The processor for which code is generated, in LLVM's names; an empty triple is the host's."""

    cpu: str
    features: str
    triple: str = ""

    @property
    def host(self) -> Host:
        """The properties that the generator uses."""
        has = {f[1:] for f in self.features.split(",") if f.startswith("+")}
        width = 64 if "avx512bw" in has and "avx512dq" in has and "avx512vl" in has else 16
        if width == 16 and "avx2" in has:
            width = 32
        arm = "neon" in has
        many = "x86_regcallcc " if "sse2" in has else ""
        return Host(width, "fma" in has or arm, "f16c" in has or arm, many)


_chosen: ContextVar[Processor] = ContextVar("processor")


def this_processor() -> Processor:
    """Return the processor for which code is generated: by default the host."""
    return _chosen.get(None) or _host()


@contextmanager
def generating_for(processor: Processor) -> Generator[None]:
    """Generate code for this processor inside; its features must be a subset of the host's."""
    token = _chosen.set(processor)
    try:
        yield
    finally:
        _chosen.reset(token)


@cache
def _host() -> Processor:
    _initialise()
    features = llvm.get_host_cpu_features()
    if features.get("sse4a"):  # insertq takes some hundred times as long as other code
        features["sse4a"] = False
    return Processor(llvm.get_host_cpu_name(), features.flatten())


@cache
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


class MachineCode:
    """Machine code in memory, which is freed with this object."""

    def __init__(self, link: Callable[[], Any], name: str = "") -> None:  # Any: as `engine`
        self.name = name  # under which the cache has it
        self._link, self._lock, self._engine = link, Lock(), None

    @property
    def engine(self) -> Any:  # Any: llvmlite has no types
        """LLVM's owner of the code, once it is generated."""
        with self._lock:
            if self._engine is None:
                self._engine = self._link()
                del self._link  # with what it holds
        return self._engine

    def wait(self) -> None:
        """Wait for the threads that generate the code; an interrupt ends nothing but this."""
        _ = self.engine

    @cached_property
    def launch(self) -> Callable[..., int]:
        """The entry function."""
        return ENTRY(self.address("launch"))

    def address(self, name: str) -> int:
        """Return the address of a function in the code."""
        return self.engine.get_function_address(name)


def compiled(
    key: str, make: Callable[[], tuple[Sequence[str], bytes | None]], processor: Processor
) -> tuple[MachineCode, bytes]:
    """Return machine code, and the bytes stored with it, from the cache or made by `make`.

    `make` returns LLVM modules and bytes; with None instead of bytes, the cache keeps nothing.
    Threads generate the code while the caller goes on, until it asks for an address.
    """
    _initialise()
    name = codefolder.name_of((VERSION, processor.cpu, processor.features, key))
    found = codefolder.read(name)
    if found is not None:
        return _loaded(found, name, processor)
    texts, beside = make()
    files = ObjectFiles(parsed(text, processor) for text in texts)

    def link() -> Any:  # Any: as above
        objects = files.wait()
        if beside is not None:
            parts = (beside, *objects)
            codefolder.write(name, b"".join(len(p).to_bytes(8, "little") + p for p in parts))
        return _linked(objects, processor)

    return MachineCode(link, "" if beside is None else name), beside or b""


def stored(name: str, processor: Processor) -> MachineCode | None:
    """Return the machine code that the cache has under this name; None if it has none."""
    _initialise()
    found = codefolder.read(name)
    return None if found is None else _loaded(found, name, processor)[0]


def _loaded(found: bytes, name: str, processor: Processor) -> tuple[MachineCode, bytes]:
    """Return the machine code of a file, and the bytes stored with it."""
    kept, *objects = _parts(found)
    return MachineCode(partial(_linked, objects, processor), name), kept


def _linked(objects: Sequence[bytes], processor: Processor) -> Any:  # Any: as above
    """Return LLVM's owner of the code in object files."""
    empty = llvm.parse_assembly("")
    empty.triple = llvm.get_default_triple()
    engine = llvm.create_mcjit_compiler(empty, _target_machine(processor))
    for part in objects:
        engine.add_object_file(llvm.ObjectFileRef.from_data(part))
    engine.finalize_object()
    return engine


def parsed(text: str, processor: Processor) -> ParsedModule:
    """Return a module of LLVM text, ready to generate code for a processor."""
    return ParsedModule(text, _target_machine(processor, 0 if text.startswith(QUICK) else 1))


def _parts(stored: bytes) -> Iterator[bytes]:
    """Yield the parts of a file, each of which follows its size."""
    start = 0
    while start < len(stored):
        begin = start + 8
        start = begin + int.from_bytes(stored[start:begin], "little")
        yield stored[begin:start]


def _target_machine(processor: Processor, level: int = 1) -> Any:  # Any: llvmlite has no types
    """Return LLVM's code generator.

    Level 0 takes a third of the time, but a GEMM of 1024 then takes four times as long: a first
    call on large arrays loses more than it gains. Level 0 is for code that runs once.
    """
    target = llvm.Target.from_triple(processor.triple or llvm.get_default_triple())
    reloc = "static" if LINKS and not processor.triple else "pic"
    how: Any = {"features": processor.features, "codemodel": "jitdefault"}  # Any: as above
    return target.create_target_machine(cpu=processor.cpu, opt=level, reloc=reloc, **how)


def pointer_of(callback: Any) -> int:  # Any: a ctypes function
    """Return the address of a function that C may call."""
    return ctypes.c_void_p.from_buffer(callback).value or 0  # a cast leaves a cycle of objects


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)
"""A request to the reference: its number; 0 to go on."""

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, *([ctypes.c_void_p] * 4), ctypes.c_int64, ctypes.c_int64)
"""Frame, memories, scratch, callback; first block and last."""


@dataclass(frozen=True)
class Host:
    """Properties of the processor that the generator uses."""

    width: int  # bytes of a vector
    fma: bool
    half: bool  # converts f16
    many: str = ""  # the calling convention of functions that give more than one vector

    @property
    def permutes(self) -> bool:
        """True if one instruction looks up 16 indices in 32 numbers in registers: AVX-512."""
        return self.width == 64
