"""The instructions as functions; `intrinsics.pyi` lists them for editors and type checkers."""

from ptokit.eager import functions

_functions = functions()
globals().update(_functions)
__all__ = list(_functions)  # pyright: ignore[reportUnsupportedDunderAll] - the stub has them
