"""Names that Python code reads or writes, and nested code objects."""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType


@lru_cache(4096)
def names_of(code: CodeType) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the globals, modules and other names that code and its inner functions may access."""
    spaces, modules, others = set[str](), set[str](), {*code.co_names}
    for one in dis.get_instructions(code):
        if "GLOBAL" in one.opname or one.opname == "LOAD_NAME":
            if one.argval.isidentifier():  # not of pytest's asserts
                spaces.add(one.argval)
        elif one.opname == "IMPORT_NAME":
            modules.add(one.argval)
    for constant in code.co_consts:
        if isinstance(constant, str) and constant.isidentifier():  # possibly an argument of getattr
            others.add(constant)
        elif isinstance(constant, CodeType):
            inner = names_of(constant)
            spaces, modules, others = spaces | inner[0], modules | inner[1], others | inner[2]
    return frozenset(spaces), frozenset(modules), frozenset(others)


@lru_cache(4096)
def inner_code(code: CodeType) -> frozenset[CodeType]:
    """Return the code of all functions nested in a function."""
    own = [c for c in code.co_consts if isinstance(c, CodeType)]
    return frozenset(own).union(*map(inner_code, own))
