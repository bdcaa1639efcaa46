"""Conversion of element counts back to the counts of packed pairs that text has."""

from __future__ import annotations

from copy import deepcopy

from ptokit.diagnostics.diagnostic import error
from ptokit.ir.editing import FreshNames, constant, new_op, number_of
from ptokit.ir.module import Func, Module, Op, Value
from ptokit.text.types.pairs import blocks, counted, is_double, number_page, recount

BASE, TWO = "pairs", 2
WHOLE = "count whole bytes: they hold two elements each"


def counting_pairs(module: Module) -> Module:
    """Return the module with counts of pairs, or the module itself if nothing counts pairs."""
    ops = (op for func in module.funcs for op in func.walk() if isinstance(op, Op))
    if not any(True for op in ops for _ in counted(op)):
        return module
    copied = deepcopy(module)
    for func in copied.funcs:
        _Halves(func).put()
    return copied


class _Halves:
    """The rewriter of one function's element counts."""

    def __init__(self, func: Func) -> None:
        self.func = func
        ops = [op for op in func.walk() if isinstance(op, Op)]
        self.makers = {value: op for op in ops for value in op.results}
        self.names = FreshNames(func)
        self.gone: set[Value] = set()  # element counts that text does not need

    def put(self) -> None:
        """Insert halves, and remove the ops that only doubled them."""
        recount(self.func, self._half)
        self._drop()

    def _half(self, op: Op, name: str, value: Value) -> tuple[list[Op], Value]:
        """Return the ops that compute half of a number, and the half."""
        maker = self.makers.get(value)
        if maker is not None and is_double(maker):
            self.gone.add(value)
            return [], next(source for _, source in maker.values())
        number = None if maker is None else number_of(maker)
        if number is not None:
            if number % 2:
                message = f"{op.name}: {name} is {number}, which is no number of pairs"
                raise error("conversion", message, op.span_of(name), help=WHOLE)
            half = constant(self._named(value), number // 2)
            return [half], half.results[0]
        two, page = constant(self._named(value), TWO), number_page("floordiv", value.type)
        both = zip((o.name for o in page.ins()), ((value,), two.results), strict=True)
        divided = new_op(page, dict(both), results=[self._named(value)])
        return [two, divided], divided.results[0]

    def _named(self, like: Value) -> Value:
        """Return a new number with the type of another."""
        return Value(self.names.name(BASE), like.type)

    def _drop(self) -> None:
        """Remove ops that doubled numbers without a remaining use."""
        ops = list(self.func.walk())
        used = {v for op in ops if isinstance(op, Op) for _, v in op.values()}
        used |= {v for op in ops if not isinstance(op, Op) for v in op.uses}
        gone = self.gone - used
        for block in blocks(self.func):
            block.ops = [op for op in block.ops if not gone & {*op.results}]
