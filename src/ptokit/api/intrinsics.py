"""The instructions as functions, each made on first access.

`intrinsics.pyi` lists them for editors and type checkers.
"""

import sys

from ptokit.api.eager import function, function_names


def __getattr__(name: str) -> object:
    """Return the function called `name`; `__all__` lists them."""
    found = list(function_names()) if name == "__all__" else function(name)
    if found is None:
        here = sys.modules[__name__]  # Python suggests similar names of this module
        raise AttributeError(f"ptokit has no instruction {name!r}", name=name, obj=here)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *function_names()})
