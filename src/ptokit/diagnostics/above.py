"""Modules that lower folders use and higher ones contain: `ptokit/__init__` registers them."""

from __future__ import annotations

TYPE_CHECKING = False  # `import ptokit` does without `typing`, which has it

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PROVIDERS: dict[str, Callable[[], object]] = {}  # a module, imported when it is asked for


def above(name: str) -> Any:  # Any: a module
    """Return the module that is registered under a name."""
    return PROVIDERS[name]()
