"""Tiles and views during recording: a type and a value of the program, without content."""

from __future__ import annotations

import operator
from typing import Any, NoReturn

from ptokit.api.hostarrays import Tensor, Tile
from ptokit.api.kernel.callplaces import refused
from ptokit.api.kernel.runtimenumbers import Number, is_number
from ptokit.ir.module import Value
from ptokit.values.dtypes import DType

OPERATIONS = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv"}


class RecordedTile(Tile):
    """A tile during recording: a type and a value of the program, without content."""

    def __init__(self, value: Value, valid: tuple[Number, ...]) -> None:
        self.value, self._valid = value, valid

    @property
    def type(self) -> Any:  # Any: a tile type, or that of a convolution tile
        return self.value.type

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def valid(self) -> Any:  # Any: two numbers, for checkers ints
        """Return the extents of the valid region, which may be run-time numbers."""
        return self._valid

    @property
    def shape(self) -> Any:  # Any: as above
        return self._valid

    @property
    def matrix(self) -> tuple[int, int]:
        """Return the matrix that a convolution tile represents."""
        return tuple(self.type.matrix)

    def __repr__(self) -> str:
        return f"<tile %{self.value.name} {self.type}, recording>"

    def refuse(self, *_: object, **__: object) -> NoReturn:
        """Raise the error for an operation that needs the content."""
        raise refused(
            "run-time-number",
            f"the elements of %{self.value.name} are not known while recording",
            "compute with pto functions and operators, pto.exp(t); kernel.debug has real tiles",
        )

    def compare(self, *_: object) -> NoReturn:
        """Raise the error for a comparison of elements."""
        help = 'pto.cmp(t, u, cmp="gt") and pto.cmps(t, 0.0, cmp="gt") make masks for pto.sel, '
        help += "pto.max(t, u) and pto.min(t, u) take the larger and the smaller; `is` is identity"
        what = f"%{self.value.name} is compared, but its elements are not known while recording"
        raise refused("run-time-number", f"{what} runs", help)

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = compare  # type: ignore[assignment]  # raises for any arguments
    __hash__ = object.__hash__

    def __format__(self, form: str) -> str:
        return repr(self)

    def instead(self, what: str, help: str) -> NoReturn:
        """Raise the error for a Python operation, with the function to call."""
        raise refused("run-time-number", f"no instruction is {what} of %{self.value.name}", help)

    def __pow__(self, other: object) -> NoReturn:
        self.instead("the `**`", "t * t is a square; pto.pows(t, 1.5) and pto.pow(t, u) are powers")

    def __matmul__(self, other: object) -> NoReturn:
        help = 'pto.matmul(a, b) multiplies a.to("mat").to("left") by b.to("mat").to("right")'
        self.instead("the `@`", help)

    def __getitem__(self, key: object) -> NoReturn:
        help = "pto.load(pto.block(x, row, col, rows, cols)) loads a part of an argument, "
        help += "pto.extract(t, row, col, (rows, cols)) one of a tile; x[row, col] is a number"
        self.instead("the index", help)

    numpy = written = storage = __len__ = __array__ = refuse  # type: ignore[assignment]  # raises for any arguments
    __round__ = __rpow__ = __rmatmul__ = __mod__ = __floordiv__ = refuse  # type: ignore[assignment]  # raises for any arguments
    __iter__ = __bool__ = __float__ = __int__ = __dlpack__ = __setitem__ = refuse  # type: ignore[assignment]  # raises for any arguments

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **how: Any) -> Any:
        """Compute a NumPy number with a tile; other NumPy functions are errors."""
        operation = getattr(operator, OPERATIONS.get(ufunc.__name__, ""), None)
        if operation is None or not all(t is self or is_number(t) for t in inputs):
            self.refuse()
        return operation(*(t if t is self else float(t) for t in inputs))


class RecordedRegister(RecordedTile):
    """A register or mask during recording."""

    def __init__(self, value: Value) -> None:
        super().__init__(value, (1, value.type.cols))  # type: ignore[attr-defined]  # the type of a register

    def __repr__(self) -> str:
        return f"<register %{self.value.name} {self.type}, recording>"


class RecordedView(Tensor):
    """A view of global memory during recording."""

    name: str

    @property
    def value(self) -> Value:
        """Return the view in the program."""
        raise NotImplementedError
