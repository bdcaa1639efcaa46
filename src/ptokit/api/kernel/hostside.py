"""The host's side of a launch: arrays of any library as memory, outputs written in place."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import CodeType
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.api.hostarrays import from_dlpack
from ptokit.api.kernel.callplaces import span_of
from ptokit.api.settings import current_core
from ptokit.api.tensors import ElementType, dtype_of
from ptokit.diagnostics.callsite import depth
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError, Severity, call_error
from ptokit.isa.model.dtypes import DType
from ptokit.numerics.formats import pack, unpack
from ptokit.numerics.host import codes_of, values_of
from ptokit.passes.complete import dtype_of_array

AnyArray: TypeAlias = "NDArray[Any]"  # Any: a user's array


class KernelWarning(UserWarning):
    """A kernel does what nobody means: an output is not written, a result is not read."""


class In(Protocol):
    """An array that a kernel reads: `numpy.ndarray`, `torch.Tensor` and others are such."""

    @property
    def shape(self) -> Any: ...  # Any: numbers
    @property
    def dtype(self) -> Any: ...  # Any: a type of the array's library
    @property
    def T(self) -> Any: ...  # Any: an array of the same library
    def __getitem__(self, key: Any, /) -> Any: ...  # Any: indices; a part, or a number


class Out(In, Protocol):
    """An array that a kernel writes, all of it or a part."""


class InOut(In, Protocol):
    """An array that a kernel reads and writes."""


@dataclass(frozen=True)
class ArraySpec:
    """An array that is not there yet: extents are numbers, or names of run-time numbers."""

    dtype: DType
    shape: tuple[int | str, ...]


def spec(dtype: ElementType, shape: Sequence[int | str]) -> ArraySpec:
    """An argument's element type and extents, for a program without arrays."""
    return ArraySpec(dtype_of(dtype), tuple(shape))


NUMBERS = (bool, int, float, np.number)
VALUES = (str, bytes, type(None), type)  # no data of a launch


@cache
def _element(dtype: np.dtype[Any]) -> DType | None:  # Any: of whatever elements
    return dtype_of_array(np.empty(0, dtype))


class LaunchArguments:
    """What a launch was given: arrays as NumPy has them, numbers, and values of Python's."""

    def __init__(self, data: Mapping[str, Any], static: Mapping[str, Any]) -> None:
        self.static = static
        self.numbers: dict[str, Any] = {}
        self.views: dict[str, AnyArray] = {}
        self.dtypes: dict[str, DType] = {}
        self.shapes: dict[str, tuple[Any, ...]] = {}
        self.extents: Mapping[str, Any] = {}
        kinds: list[object] = []
        for name, given in data.items():
            if isinstance(given, ArraySpec):
                self.dtypes[name], self.shapes[name] = given.dtype, given.shape
                kinds.append(given)
            elif isinstance(given, NUMBERS):
                self.numbers[name] = given.item() if isinstance(given, np.generic) else given
                kinds.append(self.numbers[name].__class__)
            else:
                array = given if type(given) is np.ndarray else array_of(name, given)
                self._array(name, array)
                kinds += array.dtype, array.shape
        # what decides the program, as far as `shapes` does not matter
        self.kind: tuple[object, ...] = (
            *kinds,
            *static.items(),
            *(value.__class__ for value in static.values()),
        )

    def _array(self, name: str, array: AnyArray) -> None:
        dtype = _element(array.dtype)
        if dtype is None:
            seen = f"{name} holds {array.dtype}"
            help = "convert it first, with astype(numpy.float32) for example"
            raise call_error(
                "argument-type", f"{name}: no element type is like it", seen=seen, help=help
            )
        self.views[name], self.dtypes[name], self.shapes[name] = array, dtype, array.shape

    def require_arrays(self, names: Iterable[str]) -> None:
        """PtoError where a number was given for an array."""
        for name in self.numbers.keys() & set(names):
            seen = f"{name} is the number {self.numbers[name]!r}"
            help = "pass an array with as many axes as `shapes` names"
            raise call_error("argument-type", f"{name} is no array", seen=seen, help=help)

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """What the program takes, by name."""
        whole = {
            n: a if a.flags.c_contiguous else np.ascontiguousarray(a) for n, a in self.views.items()
        }
        return {**whole, **self.numbers, **self.extents}

    def contiguous(self) -> dict[str, tuple[DType, AnyArray]]:
        """Copies that a kernel may be debugged on, as memory holds them."""
        kinds = self.dtypes
        return {
            n: (k, pack(codes_of(a, k)) if k.packed else np.array(a, order="C"))
            for n, k, a in ((n, kinds[n], a) for n, a in self.views.items())
        }

    def put_back(self, outputs: Mapping[str, Any]) -> None:
        """Write outputs into the arrays that were given."""
        for name in filter(self.views.__contains__, outputs):  # others are room that FIFOs need
            result, view, kind = outputs[name], self.views[name], self.dtypes[name]
            if kind.packed and result.dtype != view.dtype:
                result = values_of(unpack(result, view.size).reshape(view.shape), kind)
            if not view.flags.writeable:
                raise call_error(
                    "argument-type",
                    f"{name} is written by the kernel and is read-only",
                    help="pass an array that can be written, a copy for example",
                )
            np.copyto(view, result)


def array_of(name: str, given: Any) -> AnyArray:  # Any: a user's
    """The memory of another library's array, shared."""
    kind = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
    if kind == "torch.Tensor":
        return _tensor(name, given)
    if not any(hasattr(given, a) for a in ("__array_interface__", "__dlpack__", "__array__")):
        seen, help = f"{name} is a {type(given).__name__}", "pass a NumPy array: numpy.asarray(...)"
        if isinstance(given, VALUES):
            help = f"pass an array or a number, or make {name} keyword-only: a value of Python's"
        raise call_error("argument-type", f"{name} is no array", seen=seen, help=help)
    device = given.__dlpack_device__() if hasattr(given, "__dlpack_device__") else (1, 0)
    if device[0] != 1:
        raise _elsewhere(name)
    if hasattr(given, "__array_interface__"):
        return np.asarray(given)
    return np.asarray(from_dlpack(given))


def _elsewhere(name: str) -> PtoError:
    help = f"copy it to the host first: {name}.cpu() for a torch tensor"
    return call_error("argument-type", f"{name} is in the memory of a device", help=help)


def _tensor(name: str, given: Any) -> AnyArray:  # Any: a torch tensor
    """The memory of a torch tensor on the CPU; bf16 by its bits."""
    if not given.is_cpu:
        raise _elsewhere(name)
    if given.requires_grad:
        given = given.detach()
    if str(given.dtype) == "torch.bfloat16":
        import ml_dtypes

        bits = given.view(getattr(__import__("torch"), "int16"))  # noqa: B009 - not installed here
        return bits.numpy().view(ml_dtypes.bfloat16)
    return given.numpy()


def warn(found: Sequence[Diagnostic]) -> None:
    """Show warnings where the kernel was called; Python shows each once."""
    for diagnostic in found:
        warnings.warn(diagnostic.render(), KernelWarning, stacklevel=depth())


def require_plain(function: Callable[..., Any], parameters: Iterable[inspect.Parameter]) -> None:
    """TypeError for a function that no kernel can be. Any: a user's."""
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise TypeError(
            f"{function.__name__} is a generator or async: a kernel is a plain function"
        )
    for one in parameters:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise TypeError(f"a kernel names each of its arguments, not {one}")


def is_output(parameter: Any) -> bool:  # Any: a parameter of a signature
    """Whether its annotation says that the kernel writes it."""
    kind = parameter.annotation
    return kind in (Out, InOut) or str(kind).rpartition(".")[2] in ("Out", "InOut")


def not_written(name: str, code: CodeType) -> Diagnostic:
    """An output that nothing stores into."""
    return Diagnostic(
        "output-not-written",
        f"{name} is an output and nothing stores into it",
        span_of(code.co_filename, code.co_firstlineno, None, None, None),
        Severity.WARNING,
        help=f"pto.store(pto.block({name}, ...), tile) writes it; binding {name} does not",
    )


def place_block(index: int, blocks: int) -> None:
    """The eager core stands for one of so many blocks, all of its cores."""
    core = current_core()
    core.block_idx, core.block_num, core.whole = index, blocks, core.target.kinds
