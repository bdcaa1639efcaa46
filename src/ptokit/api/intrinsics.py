"""The instructions as functions, each made when it is first asked for.

`intrinsics.pyi` lists them for editors and type checkers.
"""

import sys

from ptokit.api.eager import function, function_names


def __getattr__(name: str) -> object:
    """The function called `name`; `__all__` lists them."""
    found = list(function_names()) if name == "__all__" else function(name)
    if found is None:
        here = sys.modules[__name__]  # among whose names Python looks for one that is near
        raise AttributeError(f"ptokit has no instruction {name!r}", name=name, obj=here)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *function_names()})
