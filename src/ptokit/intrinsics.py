"""The instructions as functions; `intrinsics.pyi` lists them for editors and type checkers."""

from ptokit.eager import functions

globals().update(functions())
__all__ = list(functions())  # pyright: ignore[reportUnsupportedDunderAll] - the stub has them
