"""Names that Python code reads or writes, and the code that is inside of other code."""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType


@lru_cache(4096)
def names_of(code: CodeType) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The globals, modules and other names that code and the functions in it may read or write."""
    spaces, modules, others = set[str](), set[str](), {*code.co_names}
    for one in dis.get_instructions(code):
        if "GLOBAL" in one.opname or one.opname == "LOAD_NAME":
            if one.argval.isidentifier():  # pytest's rewritten asserts name what is none
                spaces.add(one.argval)
        elif one.opname == "IMPORT_NAME":
            modules.add(one.argval)
    for constant in code.co_consts:
        if isinstance(constant, str) and constant.isidentifier():  # as of getattr
            others.add(constant)
        elif isinstance(constant, CodeType):
            inner = names_of(constant)
            spaces, modules, others = spaces | inner[0], modules | inner[1], others | inner[2]
    return frozenset(spaces), frozenset(modules), frozenset(others)


@lru_cache(4096)
def inner_code(code: CodeType) -> frozenset[CodeType]:
    """The code of functions inside of a function."""
    own = [c for c in code.co_consts if isinstance(c, CodeType)]
    return frozenset(own).union(*map(inner_code, own))
