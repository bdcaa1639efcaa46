"""HTML of objects for notebooks, drawn by the `pictures` module that the package registers."""

from __future__ import annotations

from typing import TypeVar

from ptokit.diagnostics.above import above

T = TypeVar("T")


class Rich:
    """An object that draws itself in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        drawn: str = above("pictures").html(self)
        return drawn


class RichList(list[T], Rich):
    """A list that a notebook shows as the pictures of its items."""
