"""The garbage collector, switched off while many objects are made."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def gc_disabled() -> Generator[None]:
    """Disable garbage collection inside: hardly any of the objects made there is garbage.

    They count as old behind, or the next collection of young objects would look at all of them.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.freeze()
            gc.unfreeze()
            gc.enable()
