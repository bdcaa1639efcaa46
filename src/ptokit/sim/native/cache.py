"""From LLVM text to machine code, kept on disk by content.

A file's name is the hash of everything its content depends on; it is written beside its place and
moved there, and begins with the hash of what follows, its own name among it. What is read is run:
so only files and folders count that belong to the user and that nobody else may write.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ptokit.sim.kernels.functionbase import Host

llvm: Any = import_module("llvmlite.binding")  # Any: it has no types
VERSION = f"2 {version('llvmlite')}"
KEEP = 2000  # files; the oldest go first
NAME = re.compile(r"[0-9a-f]{64}\.o")
OTHERS = stat.S_IWGRP | stat.S_IWOTH
UNFINISHED, AN_HOUR = ".ptokit-", 3600  # what a process that was killed leaves behind


class CacheWarning(UserWarning):
    """The folder of machine code, or a file in it, may be written by other users."""


@dataclass(frozen=True)
class Processor:
    """What code is generated for: LLVM's names. No triple: that of the host."""

    cpu: str
    features: str
    triple: str = ""

    @property
    def host(self) -> Host:
        """What the generator may use of it."""
        has = {f[1:] for f in self.features.split(",") if f.startswith("+")}
        width = 64 if "avx512bw" in has and "avx512dq" in has and "avx512vl" in has else 16
        if width == 16 and "avx2" in has:
            width = 32
        arm = "neon" in has
        many = "x86_regcallcc " if "sse2" in has else ""
        return Host(width, "fma" in has or arm, "f16c" in has or arm, many)


_chosen: ContextVar[Processor] = ContextVar("processor")


def this_processor() -> Processor:
    """The one code is generated for: the one we run on, unless another was chosen."""
    return _chosen.get(None) or _host()


@contextmanager
def generating_for(processor: Processor) -> Generator[None]:
    """Inside, code is generated for this processor, which must be able to do less than the host."""
    token = _chosen.set(processor)
    try:
        yield
    finally:
        _chosen.reset(token)


@cache
def _host() -> Processor:
    _initialise()
    features = llvm.get_host_cpu_features()
    if features.get("sse4a"):  # insertq takes some hundred times as long as what it replaces
        features["sse4a"] = False
    return Processor(llvm.get_host_cpu_name(), features.flatten())


@cache
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@dataclass
class MachineCode:
    """Machine code in memory, for as long as this lives."""

    engine: Any  # Any: llvmlite has no types

    @cached_property
    def launch(self) -> Callable[..., int]:
        """Its entry."""
        return ENTRY(self.address("launch"))

    def address(self, name: str) -> int:
        """The address of one of its functions."""
        return self.engine.get_function_address(name)


def compiled(
    key: str, make: Callable[[], tuple[str, bytes | None]], processor: Processor
) -> tuple[MachineCode, bytes]:
    """Machine code and what is kept beside it: from the cache, or of the text that `make` gives.

    Without anything beside it nothing is kept.
    """
    _initialise()
    parts = (VERSION, processor.cpu, processor.features, key)
    name, folder = hashlib.sha256(repr(parts).encode()).hexdigest(), _folder()
    found = folder and _read(folder, name)
    if found is None:
        text, beside = make()
        size = len(beside or b"").to_bytes(8, "little")
        found = size + (beside or b"") + machine_code(text, processor)
        if folder is not None and beside is not None:
            _write(folder, name, found)
    start = 8 + int.from_bytes(found[:8], "little")
    empty = llvm.parse_assembly("")
    empty.triple = llvm.get_default_triple()
    engine = llvm.create_mcjit_compiler(empty, _target_machine(processor))
    engine.add_object_file(llvm.ObjectFileRef.from_data(found[start:]))
    engine.finalize_object()
    return MachineCode(engine), found[8:start]


def _target_machine(processor: Processor) -> Any:  # Any: llvmlite has no types
    target = llvm.Target.from_triple(processor.triple or llvm.get_default_triple())
    return target.create_target_machine(
        cpu=processor.cpu, features=processor.features, opt=1, reloc="pic", codemodel="jitdefault"
    )


def machine_code(text: str, processor: Processor) -> bytes:
    """An object file of LLVM text. Vectors are in the text already: no vectoriser runs."""
    machine = _target_machine(processor)
    module = llvm.parse_assembly(text)
    module.verify()
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    passes = llvm.create_new_module_pass_manager()
    passes.add_ipsccp_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.run(module, builder)
    if "@llvm.coro" in text:  # the pipeline of level 0 lowers coroutines
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(0))
        builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


def _folder() -> Path | None:
    """Where code is kept: PTOKIT_CACHE, or the user's cache folder. None: nowhere."""
    given = os.environ.get("PTOKIT_CACHE")
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = Path(given) if given else base / "ptokit"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not given and _is_mine(folder.stat()):
            folder.chmod(0o700)
        mine = _trusted(folder, folder.stat())
    except (OSError, RuntimeError):  # nobody's home is known
        return None
    return folder if mine else None


def _is_mine(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid()


def _trusted(path: Path, found: os.stat_result) -> bool:
    """True if only this user may have written a file or folder; else warn, once for a folder."""
    if _is_mine(found) and not found.st_mode & OTHERS:
        return True
    folder = path.parent if path.suffix == ".o" else path
    if folder not in _warned:
        _warned.add(folder)
        why = "may be written by other users" if _is_mine(found) else "belongs to another user"
        help = "give PTOKIT_CACHE a folder of your own (chmod 700), or unset it"
        message = f"{path} {why}, so ptokit runs no code from there: {help}"
        warnings.warn_explicit(message, CacheWarning, str(folder), 1)
    return False


_warned: set[Path] = set()


def _read(folder: Path, name: str) -> bytes | None:
    """The content of a file of this user's that was written under this name."""
    path = folder / f"{name}.o"
    try:  # neither a link nor a pipe: both could be anybody's
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or not _trusted(path, found):
                return None
            raw = file.read()
    except OSError:
        return None
    start = raw[: len(_start(name, b""))]
    content = raw[len(start) :]
    return content if start == _start(name, content) else None


def _start(name: str, content: bytes) -> bytes:
    """What a file begins with: it tells whether the rest is whole, and of this name."""
    return hashlib.sha256(name.encode() + content).digest()


def _write(folder: Path, name: str, content: bytes) -> None:
    """Best effort: a full or read-only disk only costs time."""
    made = None
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=UNFINISHED, delete=False) as file:
            made = Path(file.name)
            file.write(_start(name, content) + content)
        made.replace(folder / f"{name}.o")
        made = None
        _prune(folder)
    except OSError:
        pass
    finally:
        if made is not None:
            with suppress(OSError):
                made.unlink()


def _prune(folder: Path) -> None:
    """Remove the oldest files, and unfinished ones: no other file, whatever lies beside them."""
    with os.scandir(folder) as entries:  # another process may remove one meanwhile: OSError
        every = [(entry.name, entry.stat(follow_symlinks=False).st_mtime) for entry in entries]
    files = sorted((at, name) for name, at in every if NAME.fullmatch(name))
    old = [name for _, name in files[: max(0, len(files) - KEEP)]]
    late = time.time() - AN_HOUR
    for name in (*old, *(n for n, at in every if n.startswith(UNFINISHED) and at < late)):
        (folder / name).unlink(missing_ok=True)


def pointer_of(callback: Any) -> int:  # Any: a ctypes function
    """The address of a function that C may call."""
    return ctypes.cast(callback, ctypes.c_void_p).value or 0


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)
"""A request to the reference: its number; 0 to go on."""

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, *([ctypes.c_void_p] * 4), ctypes.c_int64, ctypes.c_int64)
"""Frame, memories, scratch, callback; first block and last."""
