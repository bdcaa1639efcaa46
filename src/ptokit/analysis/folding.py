"""Constant folding of floats: the body of a page runs on arrays of one element.

Separate from `known`, because it needs NumPy, which most checks do not import.
"""

from __future__ import annotations

from ptokit.analysis.ranges import Fact, Range
from ptokit.ir.module import Op
from ptokit.isa.formula.formulas import UNKNOWN, Env
from ptokit.isa.lang.environment import call
from ptokit.machine.evaluation import NumpyArray, scalar
from ptokit.machine.execute import element_of


def folded(op: Op, values: Env) -> Fact:
    """Return the result of an op on these numbers; UNKNOWN for ranges.

    Also UNKNOWN if the types break a rule, since the body relies on the rule.
    """
    about_types = (rule for rule in op.page.all_rules if rule.slug == "element-type")
    if any(rule.targets is None and rule.holds(values) is False for rule in about_types):
        return UNKNOWN
    arrays = {o.name: element_of(op, o) for o in op.page.ins() if o.element}
    if any(isinstance(values[name], Range) for name in arrays):
        return UNKNOWN
    elements = {name: scalar(values[name], dtype) for name, dtype in arrays.items() if dtype}
    found = call(op.page.run, {**values, **elements})
    return found.values.item() if isinstance(found, NumpyArray) else found
