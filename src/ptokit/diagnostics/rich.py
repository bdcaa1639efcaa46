"""What a notebook asks of an object: HTML, drawn by `ptokit.tools.rich`; a terminal shows text."""

from __future__ import annotations

from importlib import import_module
from typing import TypeVar

T = TypeVar("T")


class Rich:
    """An object that draws itself in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        drawn: str = import_module("ptokit.tools.rich.richviews").html(self)
        return drawn


class RichList(list[T], Rich):
    """A list that a notebook shows as what is in it."""
