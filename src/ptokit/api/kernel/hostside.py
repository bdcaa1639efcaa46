"""The host side of a launch: arrays of any library as memory, and outputs written in place."""

from __future__ import annotations

import inspect
import operator
import warnings
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from types import CodeType
from typing import Any, Protocol

import numpy as np

from ptokit.api.hostarrays import CPU
from ptokit.api.kernel.callplaces import span_of
from ptokit.api.kernel.pythonstate import exact
from ptokit.api.kernel.shapenames import Extent
from ptokit.api.tensors import ElementType, dtype_of
from ptokit.diagnostics.callsite import depth
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError, Severity, call_error
from ptokit.forms.complete import dtype_of_array
from ptokit.launch.hostmemory import host_memory, shares_bytes
from ptokit.launch.settings import current_core
from ptokit.values.dtypes import DType
from ptokit.values.formats import pack, unpack
from ptokit.values.host import AnyArray, codes_of, native, values_of


class KernelWarning(UserWarning):
    """A warning about a kernel with an unused result or an unwritten output."""


class In(Protocol):
    """An array that a kernel reads, such as a `numpy.ndarray` or a `torch.Tensor`."""

    @property
    def shape(self) -> Any: ...  # Any: numbers
    @property
    def dtype(self) -> Any: ...  # Any: a type of the array's library
    @property
    def T(self) -> Any: ...  # Any: an array of the same library
    def __getitem__(self, key: Any, /) -> Any: ...  # Any: indices; a part, or a number


class Out(In, Protocol):
    """An array that a kernel writes, in whole or in part; after an error it has a part of that."""


class InOut(In, Protocol):
    """An array that a kernel reads and writes; after an error it is what it was before."""


@dataclass(frozen=True)
class ArraySpec:
    """An array without data: extents are numbers, or names of run-time numbers."""

    dtype: DType
    shape: tuple[int | str, ...]


def spec(dtype: ElementType, shape: Sequence[int | str]) -> ArraySpec:
    """Return an argument's element type and extents, for a program without arrays."""
    try:
        extents = tuple(n if isinstance(n, str) else operator.index(n) for n in shape)
    except TypeError:
        seen = f"not {shape!r}"
        raise TypeError(f"the shape of a spec: expected integers and names, {seen}") from None
    return ArraySpec(dtype_of(dtype), extents)


NUMBERS = (bool, int, float, np.integer, np.floating)
VALUES = (str, bytes, type(None), type)  # types that are no data of a launch


@cache
def _element(dtype: np.dtype[np.generic]) -> DType | None:
    return dtype_of_array(np.empty(0, dtype))


class LaunchArguments:
    """The arguments of a launch: arrays as NumPy arrays, numbers, and Python values."""

    def __init__(self, data: Mapping[str, object], static: Mapping[str, object]) -> None:
        self.static = static
        self.numbers: dict[str, int | float] = {}
        self.views: dict[str, AnyArray] = {}
        self.dtypes: dict[str, DType] = {}
        self.shapes: dict[str, tuple[Extent, ...]] = {}
        self.extents: Mapping[str, Extent] = {}
        self.others: dict[str, object] = {}  # the originals of `views` that are no ndarray
        kinds: list[object] = []
        for name, given in data.items():
            if isinstance(given, ArraySpec):
                self.dtypes[name], self.shapes[name] = given.dtype, given.shape
                kinds.append(given)
            elif isinstance(given, NUMBERS):
                self.numbers[name] = number = _number(name, given)
                kinds.append(number.__class__)
            else:
                array = given if type(given) is np.ndarray else array_of(name, given)
                if array is not given:
                    self.others[name] = given
                if array.shape:
                    self._array(name, array)
                    kinds += array.dtype, array.shape
                else:
                    self.numbers[name] = number = _number(name, array[()])
                    kinds.append(number.__class__)
        self.exactly = tuple(map(exact, static.values()))
        # the key of the program, apart from `shapes`
        self.kind: tuple[object, ...] = (*kinds, *static, *static.values(), self.exactly)

    def _array(self, name: str, array: AnyArray) -> None:
        dtype = _element(array.dtype)
        if dtype is None:
            seen = f"{name} holds {array.dtype}"
            help = "convert it first, with astype(numpy.float32) for example"
            raise call_error(
                "argument-type", f"{name}: {array.dtype} is not supported", seen=seen, help=help
            )
        self.views[name], self.dtypes[name], self.shapes[name] = array, dtype, array.shape

    def require_arrays(self, names: Iterable[str]) -> None:
        """Raise PtoError if a number was given for an array."""
        for name in self.numbers.keys() & set(names):
            seen = f"{name} is the number {self.numbers[name]!r}"
            help = "pass an array with as many axes as `shapes` names"
            raise call_error("argument-type", f"{name} is not an array", seen=seen, help=help)

    @cached_property
    def arrays(self) -> dict[str, object]:
        """Return the arguments of the program, by name."""
        whole = {n: np.ascontiguousarray(native(a)) for n, a in self.views.items()}
        return {**whole, **self.numbers, **self.extents}

    def contiguous(self) -> dict[str, tuple[DType, AnyArray]]:
        """Return copies of the arrays for `debug`, in memory format."""
        kinds = self.dtypes
        return {
            n: (k, pack(codes_of(a, k)) if k.packed else np.array(native(a), order="C"))
            for n, k, a in ((n, kinds[n], a) for n, a in self.views.items())
        }

    def require_outputs(self, names: Container[str]) -> None:
        """Raise CallError unless stores into each of these arrays reach exactly that array."""
        outputs = {n: view for n, view in self.views.items() if n in names}
        for name, view in outputs.items():
            if not view.flags.writeable:
                raise _unfit(name, "read-only", "pass a writeable array, for example a copy")
            if name in self.others and not _is_memory_of(view, self.others[name]):
                seen = f"of a {type(self.others[name]).__name__} NumPy makes a copy"
                raise _unfit(name, "a copy", "pass a NumPy array and copy it back after", seen)
            if shares_bytes(view.shape, view.strides, view.itemsize):
                seen = f"shape {view.shape}, strides of {view.strides} bytes"
                raise _unfit(name, "an array whose elements share bytes", "pass a copy", seen)
        for (name, view), (other, array) in combinations(outputs.items(), 2):
            if _share(view, array):
                seen = f"{name} and {other} overlap, and both are written"
                help = "pass arrays that do not overlap, or one InOut argument"
                raise _unfit(name, f"memory of {other}", help, seen)

    @cached_property
    def direct(self) -> frozenset[str]:
        """The arrays that a program may write as they are, if they are outputs."""
        every = self.views.items()
        return frozenset(
            name
            for name, view in every
            if self.arrays[name] is view
            if not any(other != name and _share(view, array) for other, array in every)
        )

    def put_back(self, outputs: Mapping[str, AnyArray]) -> None:
        """Write outputs into the given arrays."""
        self.require_outputs(outputs)
        for name in filter(self.views.__contains__, outputs):  # other outputs are memory of FIFOs
            result, view, kind = outputs[name], self.views[name], self.dtypes[name]
            if np.may_share_memory(result, view):
                continue  # it was written there
            if kind.packed and result.dtype != view.dtype:
                result = values_of(unpack(result, view.size).reshape(view.shape), kind)
            np.copyto(view, result)


def _number(name: str, given: Any) -> int | float:  # Any: a number of Python's or NumPy's
    """Return a run-time number; CallError if it does not fit a register."""
    number = given.item() if hasattr(given, "item") else given
    if not isinstance(number, int | float) and given.__class__ is np.longdouble:
        number = float(given)
    if not isinstance(number, int | float):
        help = "pass an int or a float"
        message = f"{name} is a number of type {type(given).__name__}"
        raise call_error("argument-type", message, help=help)
    if isinstance(number, int) and not -(1 << 63) <= number < 1 << 63:
        rule = f"{name} is a number of 64 bits"
        help = f"its range is {-(1 << 63)} to {(1 << 63) - 1}"
        message = f"{name}: {CATALOGUE['argument-type'].title}"
        raise call_error("argument-type", message, rule=rule, seen=f"given {number}", help=help)
    return number


def _unfit(name: str, what: str, help: str, seen: str | None = None) -> PtoError:
    message = f"{name} is written by the kernel and is {what}"
    return call_error("argument-type", message, seen=seen, help=help)


def _is_memory_of(view: AnyArray, given: object) -> bool:
    """Return whether NumPy finds the same memory behind an object each time."""
    again = host_memory(given)
    return view.ctypes.data == again.ctypes.data and view.strides == again.strides


def _share(one: AnyArray, two: AnyArray) -> bool:
    """Return whether the arrays share a byte, or NumPy cannot decide that quickly."""
    if not np.may_share_memory(one, two):
        return False
    try:
        return np.shares_memory(one, two, max_work=1 << 20)  # pyright: ignore[reportArgumentType]
    except np.exceptions.TooHardError:
        return True


def array_of(name: str, given: object) -> AnyArray:
    """Return the shared memory of another library's array."""
    asked = ("__array_interface__", "__dlpack__", "__array__")
    if isinstance(given, type) or not any(hasattr(given, a) for a in asked):
        seen, help = f"{name} is a {type(given).__name__}", "pass a NumPy array: numpy.asarray(...)"
        if isinstance(given, VALUES):
            help = f"pass an array or a number, or make {name} keyword-only, a Python value"
        raise call_error("argument-type", f"{name} is not an array", seen=seen, help=help)
    device: Callable[[], tuple[int, int]] = getattr(given, "__dlpack_device__", lambda: CPU)
    if device()[0] != CPU[0]:
        help = f"copy it to the host first: {name}.cpu() for a torch tensor"
        raise call_error("argument-type", f"{name} is in device memory", help=help)
    try:
        return host_memory(given)
    except ValueError as problem:
        help = "pass a NumPy array"
        message = f"{name} is not an array"
        raise call_error("argument-type", message, seen=str(problem), help=help) from None


def warn(found: Sequence[Diagnostic]) -> None:
    """Show warnings at the call of the kernel; Python shows each once."""
    for diagnostic in found:
        warnings.warn(diagnostic.render(), KernelWarning, stacklevel=depth())


def require_plain(function: Callable[..., object], parameters: Iterable[inspect.Parameter]) -> None:
    """Raise TypeError for a function that cannot be a kernel."""
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise TypeError(f"{function.__name__} is a generator or async: expected a plain function")
    for one in parameters:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise TypeError(f"a kernel cannot have {one}")


def _said(parameter: inspect.Parameter) -> str:
    """Return the last word of an annotation, which may be a string."""
    kind: object = parameter.annotation
    return kind.__name__ if isinstance(kind, type) else str(kind).rpartition(".")[2]


def is_output(parameter: inspect.Parameter) -> bool:
    """Return whether the annotation says that the kernel writes the argument."""
    return _said(parameter) in ("Out", "InOut")


def is_input(parameter: inspect.Parameter) -> bool:
    """Return whether the annotation says that the kernel only reads the argument."""
    return _said(parameter) == "In"


def not_written(name: str, code: CodeType) -> Diagnostic:
    """Return the warning for an output without a store."""
    return Diagnostic(
        "output-not-written",
        f"{name} is an output that is never stored to",
        span_of(code.co_filename, code.co_firstlineno, None, None, None),
        Severity.WARNING,
        help=f"pto.store(pto.block({name}, ...), tile) writes it; binding {name} does not",
    )


def place_block(index: int, blocks: int) -> None:
    """Set the block of the eager core, which stands for all cores of the block."""
    core = current_core()
    core.block_idx, core.block_num, core.whole = index, blocks, core.target.kinds
