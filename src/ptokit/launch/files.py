"""Files of users: an input is read up to its stated size, an output is written whole or not at all.

Pipes, devices and open descriptors (/dev/stdout, the result of `<(...)` in a shell) are read and
written directly.
"""

from __future__ import annotations

import errno
import io
import math
import os
import re
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, TypeAlias

from ptokit.diagnostics.diagnostic import CallError, call_error
from ptokit.diagnostics.nearest import nearest
from ptokit.launch import signals

if TYPE_CHECKING:
    import numpy as np

    from ptokit.values.dtypes import DType
    from ptokit.values.host import AnyArray

PathLike: TypeAlias = "str | Path"
AnyType: TypeAlias = "np.dtype[np.generic]"

LARGEST_TEXT = 1 << 26  # bytes of a program: /dev/zero has no end
LARGEST_ARRAY = 1 << 32  # bytes of a raw file
CHUNK = 1 << 24
STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
TEXT = "give a .pto file: the text of a program"
CPP = (".cpp", ".cc", ".cxx", ".hpp", ".h")
LAUNCHED = "check, run, profile, convert and opt take C++: give --launch 'NAME<...>' and arguments"
PYTHON = "commands take a kernel in Python as FILE.py or FILE.py:NAME"
ARRAY = (
    "give a number, true or false, `random` or `zeros`, as zeros:f16:16x32, a .npy file of "
    "numbers, as numpy.save writes it, or a raw file: a.bin:f16:16x32"
)
NAMELESS = (  # what numpy.save makes of some types of ml_dtypes
    "NumPy itself does not read this type: save the codes, array.view(np.uint8)"
)
WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW  # a new file, never a link's target


def read_text_bytes(path: PathLike) -> bytes:
    """Return the bytes of a program file; CallError with the system's reason if unreadable."""
    if Path(path).suffix == ".py":
        raise _unreadable(path, "it is Python, not the text of a program", PYTHON)
    if Path(path).suffix in CPP:
        raise _unreadable(path, "it is C++, not the text of a program", LAUNCHED)
    with _reading(path, TEXT) as file:
        raw = file.read(LARGEST_TEXT + 1)
    if len(raw) > LARGEST_TEXT:
        raise _unreadable(path, f"a program has at most {LARGEST_TEXT >> 20} MiB", TEXT)
    return raw


def read_bytes(path: PathLike) -> bytes:
    """Return the bytes of a file of elements; CallError if unreadable or too large."""
    with _reading(path, ARRAY) as file:
        raw = file.read(LARGEST_ARRAY + 1)
    if len(raw) > LARGEST_ARRAY:
        raise _unreadable(path, f"a raw file has at most {LARGEST_ARRAY >> 30} GiB", ARRAY)
    return raw


def require_readable(path: PathLike) -> None:
    """Raise CallError unless the file of elements can be opened; nothing is read."""
    with _reading(path, ARRAY):
        pass


def read_array(path: PathLike) -> AnyArray:
    """Return the array of a .npy file of numbers or raw codes.

    CallError if the file cannot be read, is not a .npy file, holds other data than numbers, or is
    shorter than its header says; memory is not allocated on the header's word.
    """
    with _reading(path, ARRAY) as file:
        try:
            shape, by_columns, dtype = _header(file)
        except Exception as problem:  # NumPy evaluates the header text and may raise anything
            reason = f"it is not a .npy file ({_line(problem)})"
            help = NAMELESS if "'<f1'" in reason else ARRAY
            raise _unreadable(path, reason, help) from None
        if not all(type(n) is int and n >= 0 for n in shape):  # NumPy takes True and -1
            raise _unreadable(path, f"its header has the shape {shape}", ARRAY)
        if not _plain(dtype):
            raise _unreadable(path, f"its element type {dtype} is not numeric", ARRAY)
        wanted = math.prod(shape, start=dtype.itemsize)
        raw = _exactly(file, wanted)
    if len(raw) != wanted:
        reason = f"the file is shorter than the {wanted} bytes of its header"
        raise _unreadable(path, reason, ARRAY)
    return _shaped(path, raw, dtype, shape, "F" if by_columns else "C")


def _header(file: BinaryIO) -> tuple[tuple[int, ...], bool, AnyType]:
    """Return the extents, whether the order is column-major, and the element type."""
    from numpy.lib import format as npy

    version = npy.read_magic(file)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:  # 3.0 is for names of fields
        raise ValueError(f"unsupported format version {version[0]}.{version[1]}, for records")
    return readers[version](file)


def _plain(dtype: AnyType) -> bool:
    """Return whether elements are numbers or raw codes: no records, objects, text or dates."""
    parts = dtype.names or dtype.subdtype
    return dtype.kind in "biufcV" and not parts and dtype.itemsize > 0


def _shaped(
    path: PathLike, raw: bytearray, dtype: AnyType, shape: tuple[int, ...], order: Literal["C", "F"]
) -> AnyArray:
    import numpy as np

    try:
        return np.frombuffer(raw, dtype).reshape(shape, order=order)
    except (ValueError, OverflowError) as problem:  # huge extents next to an extent of 0
        raise _unreadable(path, f"{_line(problem)}, with the shape {shape}", ARRAY) from None


def _exactly(file: BinaryIO, count: int) -> bytearray:
    """Return the next `count` bytes, or fewer at the end of the file."""
    raw = bytearray()
    while len(raw) < count and (more := file.read(min(count - len(raw), CHUNK))):
        raw += more
    return raw


def write_arrays(arrays: Sequence[tuple[Path, AnyArray, DType]]) -> None:
    """Write arrays of element types as `write_files` does: as .npy, or as raw .bin files.

    A .npy file has a NumPy type if there is one. Otherwise it has the bits as type V1 or V2, which
    every NumPy reads: `.view(ml_dtypes.bfloat16)`, for example, gives the values.
    """
    import numpy as np

    from ptokit.values.formats import pack
    from ptokit.values.host import numpy_dtype, rounded_codes

    def content(path: Path, array: AnyArray, dtype: DType) -> bytes | memoryview:
        codes = rounded_codes(array, dtype)
        if path.suffix == ".bin":
            return (pack(codes) if dtype.packed else codes).tobytes()
        if array.dtype.isbuiltin != 1 or numpy_dtype(dtype) is None:
            array = codes.view(f"V{codes.itemsize}")
        buffer = io.BytesIO()  # NumPy asks a file for its position, and a pipe has none
        np.save(buffer, array, allow_pickle=False)
        return buffer.getvalue()

    write_files([(path, content(path, array, dtype)) for path, array, dtype in arrays])


@contextmanager
def writing(path: Path) -> Generator[Callable[[str], None]]:
    """Yield a function that appends lines to a new text file, which is moved into place at the end.

    The file is moved even if the run fails, since its lines show the progress. If a line cannot be
    written, the old file stays. Pipes and devices get each line at once.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        with ExitStack() as opened:
            with _reported(path):
                _stage(path, b"", staged)
                file = opened.enter_context(_opened(staged[0][0] if staged else path, "wb"))

            def tell(line: str) -> None:
                with _reported(path):
                    file.write(line.encode() + b"\n")

            try:
                yield tell
            finally:
                with _reported(path):
                    file.close()
                _move(staged)
    finally:
        _remove(staged)


@contextmanager
def new_folder(path: Path) -> Generator[Path]:
    """A folder to fill, which becomes `path` at the end; nothing is left of it where that fails.

    CallError if it cannot be made, or if there is something at `path` that is no empty folder.
    """
    require_new_folder(path)
    final = Path(os.path.abspath(path))
    partial = final.with_name(f".{os.urandom(8).hex()}.partial")
    with _reported(path):
        partial.mkdir()
    try:
        yield partial
        with signals.ignored(), _reported(path):
            partial.rename(final)  # an empty folder gives way
    finally:
        from shutil import rmtree  # imports archivers

        rmtree(partial, ignore_errors=True)


def require_new_folder(path: Path) -> None:
    """CallError if there is something at `path` that is no empty folder, or nothing around it."""
    with _reported(path):
        if not Path(os.path.abspath(path)).parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            raise FileExistsError(errno.EEXIST, "there is a file of this name")
        if path.is_dir() and any(path.iterdir()):
            raise FileExistsError(errno.EEXIST, "the folder is not empty; name another")


def write_files(files: Sequence[tuple[Path, bytes | memoryview]]) -> None:
    """Write every file next to its destination, then move all: whole or not at all.

    Links are followed. A replaced file keeps its mode and owner; a new file gets the mode of the
    user's mask. Pipes and devices are written directly. CallError names a file that cannot be
    written, also one without write permission, and then no file has changed.
    """
    staged: list[tuple[Path, Path]] = []
    direct: list[tuple[Path, bytes | memoryview]] = []
    try:
        for path, content in files:
            with _reported(path):
                if not _stage(path, content, staged):
                    direct.append((path, content))
        for path, content in direct:
            with _reported(path), _opened(path, "wb") as file:
                file.write(content)
        _move(staged)
    finally:
        _remove(staged)


def _move(staged: Sequence[tuple[Path, Path]]) -> None:
    """Move new files into place."""
    with signals.ignored():  # all files or none
        for partial, final in staged:
            with _reported(final):
                partial.replace(final)


def _remove(staged: Sequence[tuple[Path, Path]]) -> None:
    """Remove new files that were not moved."""
    for partial, _ in staged:
        partial.unlink(missing_ok=True)


def _stage(path: Path, content: bytes | memoryview, staged: list[tuple[Path, Path]]) -> bool:
    """Write a new file to replace `path`; return False if `path` itself must be written.

    That is so for pipes and devices, and for a file whose owner cannot be kept or whose folder does
    not allow new files.
    """
    old = _status(path)
    if _descriptor(path) is not None or (old is not None and not stat.S_ISREG(old.st_mode)):
        return False
    final = Path(os.path.realpath(path))
    if any(final == other for _, other in staged):
        raise OSError("two outputs name this file")
    if old is not None and not (old.st_mode & 0o222 and os.access(final, os.W_OK)):
        raise PermissionError("it is read-only")
    partial = final.with_name(f".{os.urandom(8).hex()}.partial")
    try:
        number = os.open(partial, WRITING, 0o666)
    except PermissionError:
        if old is None:
            raise
        return False
    staged.append((partial, final))
    with os.fdopen(number, "wb") as file:
        kept = old is None or _inherit(number, old)
        file.write(content if kept else b"")
    if not kept:
        partial.unlink()
        staged.remove((partial, final))
    return kept


def _inherit(number: int, old: os.stat_result) -> bool:
    """Give a new file the owner, group and mode of an old one; False if not permitted."""
    new = os.fstat(number)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(number, old.st_uid, old.st_gid)
        except PermissionError:
            return False
    os.fchmod(number, stat.S_IMODE(old.st_mode))
    return True


def is_standard_output(path: Path) -> bool:
    """Return whether output to `path` appears where the command prints."""
    try:
        return _descriptor(path) == 1 or os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False


def _status(path: Path) -> os.stat_result | None:
    """Return the status of the file at `path`, links followed; None if there is no file."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _descriptor(path: PathLike) -> int | None:
    """Return the number of the open file that a path such as /dev/stdout or /dev/fd/63 names."""
    found = re.fullmatch(r"(?:/dev|/proc/self)/fd/(\d+)", str(path))
    return int(found[1]) if found else STANDARD.get(str(path))


@contextmanager
def _opened(path: PathLike, mode: str) -> Generator[BinaryIO]:
    """Open the file, or duplicate its descriptor, since reopening would restart the file."""
    number = _descriptor(path)
    with open(path if number is None else os.dup(number), mode) as file:
        yield file  # pyright: ignore[reportReturnType] - the mode is binary


@contextmanager
def _reading(path: PathLike, help: str) -> Generator[BinaryIO]:
    try:
        with _opened(path, "rb") as file:
            yield file
    except FileNotFoundError:
        raise _unreadable(path, os.strerror(errno.ENOENT), _beside(path) or help) from None
    except OSError as problem:
        raise _unreadable(path, problem.strerror or str(problem), help) from None


@contextmanager
def _reported(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise call_error("unwritable-file", f"cannot write {path}: {reason}") from None


def _beside(path: PathLike) -> str | None:
    """Return a suggestion of the file with the most similar name in the folder."""
    wanted = Path(path)
    try:
        others = {p.stem: p for p in wanted.parent.iterdir() if p.suffix == wanted.suffix}
    except OSError:  # no such folder either
        return None
    near = nearest(wanted.stem, others)
    return f"did you mean {others[near[0]]}?" if near else None


def _unreadable(path: PathLike, reason: str, help: str) -> CallError:
    return call_error("unreadable-file", f"{path}: {reason}", help=help)


def _line(problem: Exception) -> str:
    """Return the first line of a NumPy message."""
    return (str(problem).splitlines() or [type(problem).__name__])[0]
