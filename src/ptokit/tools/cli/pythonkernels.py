"""Python kernels as programs of the command line: a file is imported, and its kernels are recorded.

Arguments are the words of `--args`; or those of calls, or of `softmax.program(pto.spec(...))`,
while the file is imported; or those of its tests without parameters.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING

from ptokit.diagnostics.diagnostic import PtoError, call_error
from ptokit.tools.cli.failures import usage
from ptokit.tools.cli.values import argument, assigned

if TYPE_CHECKING:
    from ptokit.api.kernel.hostside import ArraySpec
    from ptokit.api.kernel.kernel import Kernel
    from ptokit.api.program import Program
    from ptokit.launch.fills import Completed


def python_programs(kernel: Path, words: Sequence[str] = ()) -> dict[str, Program | PtoError]:
    """Return the programs of the kernels in FILE.py, or of that which FILE.py:NAME names, by name.

    Of a kernel whose arguments are not known it is the CallError that says so. `words` are
    arguments NAME=VALUE. CallError if there is no such kernel; PtoError if one cannot be recorded.
    """
    module, chosen = _chosen(kernel)
    file = Path(str(kernel).partition(":")[0])
    if words:
        given = {name: _given(text) for name, text in assigned([*words], "--args ").items()}
        name, one = _single(kernel, chosen)
        return {f"{file}:{name}": _bound(one, given)[0]}
    if not all(one.kept for one in chosen.values()):
        for test in _tests(module):
            _run(file, test, f"{test.__name__} fails")
    programs: dict[str, Program | PtoError] = {}
    for name, one in chosen.items():
        programs |= _captured(f"{file}:{name}", one)
    return programs


def python_launch(
    kernel: Path, placed: Sequence[object], named: Mapping[str, object]
) -> tuple[Program, dict[str, object]]:
    """Return the program of a Python kernel for a launch, and its arguments by name."""
    _, one = _single(kernel, _chosen(kernel)[1])
    if len(placed) > len(one.signature.parameters):
        usage(f"{one.function.__name__} takes {len(one.signature.parameters)} arguments")
    by_name: dict[str, object] = dict(zip(one.signature.parameters, placed, strict=False))
    by_name |= named
    return _bound(one, {name: _made(name, value) for name, value in by_name.items()})


def _made(name: str, value: object) -> object:
    """Return an array for `zeros:f32:75x50` or a raw file; other values unchanged."""
    from ptokit.ir.module import Value
    from ptokit.isa.model.types import PtrType
    from ptokit.launch.fills import Completed

    if not isinstance(value, Completed):
        return value
    kind = _stated(value)
    return value.array(Value(name, PtrType(kind.dtype)))


def _chosen(kernel: Path) -> tuple[ModuleType, dict[str, Kernel[...]]]:
    """Return the module of FILE.py and its kernels, or only that of FILE.py:NAME."""
    file, _, name = str(kernel).partition(":")
    module = _imported(Path(file))
    found = dict(_kernels(module))
    if name and name not in found:
        raise _no_kernel(file, f"{name} is no kernel of it", found)
    if not found:
        raise _no_kernel(file, "no function in it is a @pto.kernel", found)
    return module, {name: found[name]} if name else found


def _single(kernel: Path, chosen: Mapping[str, Kernel[...]]) -> tuple[str, Kernel[...]]:
    """Return the only kernel; a usage error if arguments are given for several."""
    first, *others = chosen
    if others:
        usage(
            f"arguments are for one kernel of {', '.join(chosen)}: name it as in {kernel}:{first}"
        )
    return first, chosen[first]


def _bound(kernel: Kernel[...], given: Mapping[str, object]) -> tuple[Program, dict[str, object]]:
    """Return the program and arguments of a launch: arrays, numbers and specs."""
    try:
        return kernel.bound(**given)
    except (TypeError, ValueError) as problem:
        if isinstance(problem, PtoError):
            raise
        usage(str(problem))


def _captured(label: str, kernel: Kernel[...]) -> Mapping[str, Program | PtoError]:
    """Return the programs for the arguments a kernel was captured for, or why there are none."""
    if not kernel.kept:
        parameters = kernel.signature.parameters.values()
        arrays = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
        example = " ".join(f"--args {name}=f32:64x64" for name in arrays)
        shown = f"{kernel.function.__name__}.program(pto.spec(...), ...)"
        help = f"give {example} (to `run` and `profile` arrays), or call {shown} in the file"
        message = f"{label}: its arguments are not known"
        return {label: call_error("missing-argument", message, help=help)}
    programs = [capture.program for capture in kernel.kept.values()]
    names = [label, *(f"{label}, capture {n}" for n in range(2, len(programs) + 1))]
    return dict(zip(names, programs, strict=True))


def _given(text: str) -> object:
    """Return the value of a word: f32:16x64 is an array with that type and extents."""
    from ptokit.launch.fills import Completed, completed
    from ptokit.values.dtypes import dtype_named

    typed = dtype_named(text.partition(":")[0]) is not None
    value = completed(f"zeros:{text}", 0) if typed else argument(text, 0)
    return _stated(value) if isinstance(value, Completed) else value


def _stated(value: Completed) -> ArraySpec:
    """Return the stated element type and extents; CallError unless both are given."""
    from ptokit.api.kernel.hostside import spec

    if value.dtype is None or value.shape is None:
        help = f"give both: {value.written}:f32:64x64"
        raise call_error("argument-type", f"{value}: unknown element type or extents", help=help)
    return spec(value.dtype, value.shape)


def _imported(file: Path) -> ModuleType:
    """Return the module of a file, imported as if Python had started in its folder."""
    if not file.exists():
        raise call_error("unreadable-file", f"{file}: No such file or directory")
    made = spec_from_file_location(f"{file.stem} (kernels)", file)
    assert made is not None
    assert made.loader is not None
    module = sys.modules[made.name] = module_from_spec(made)
    sys.path.insert(0, str(file.resolve().parent))
    _run(file, partial(made.loader.exec_module, module), "the file cannot be imported")
    return module


def _run(file: Path, code: Callable[[], object], message: str) -> None:
    """Run code of a file; an exception there becomes one message with the line."""
    try:
        code()
    except PtoError:
        raise
    except Exception as problem:
        own = str(file.absolute())
        lines = [f.lineno for f in extract_tb(problem.__traceback__) if f.filename == own]
        place = f"{file}:{lines[-1]}" if lines else str(file)
        said = f"{type(problem).__name__}: {problem}"
        raise call_error("unreadable-file", f"{place}: {message}", seen=said) from None


def _kernels(module: ModuleType) -> Iterator[tuple[str, Kernel[...]]]:
    """Yield the kernels that a module defines, without imported ones."""
    from ptokit.api.kernel.kernel import Kernel

    for name, value in vars(module).items():
        if isinstance(value, Kernel) and value.function.__module__ == module.__name__:
            yield name, value


def _tests(module: ModuleType) -> list[FunctionType]:
    """Return the tests without parameters, whose runs show the arguments of kernels."""
    named = [value for name, value in vars(module).items() if name.startswith("test_")]
    tests = [value for value in named if isinstance(value, FunctionType)]
    return [test for test in tests if not inspect.signature(test).parameters]


def _no_kernel(file: str, message: str, found: dict[str, Kernel[...]]) -> PtoError:
    names = f"it has {', '.join(found)}" if found else None
    help = "a function with the decorator @pto.kernel is a kernel: docs/kernels.md is the guide"
    return call_error("no-such-function", f"{file}: {message}", seen=names, help=help)
