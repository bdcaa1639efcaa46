"""The table of the programs here: what each is given, what must come out, and where it is legal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

Arrays: TypeAlias = "dict[str, Any]"  # Any: arrays and numbers
Random: TypeAlias = np.random.Generator
Reference: TypeAlias = "Callable[[Random], tuple[Arrays, Arrays]]"


@dataclass(frozen=True)
class Golden:
    """A program's arguments and outputs, in NumPy, and how it is run.

    `blocks` of it run on each of `ranks`; `refused` is the slug of the error on each target that
    does not take it; `stops` the slug of the error that the run ends with; `within` the relative
    difference allowed in an output, 0 for none; `entry` the function that runs, where the text does
    not say.
    """

    reference: Reference
    blocks: int = 1
    ranks: int = 1
    within: float = 0.0
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    stops: str = ""
    entry: str | None = None


GOLDEN: dict[str, Golden] = {}


def golden(**how: Any) -> Callable[[Reference], Reference]:  # Any: fields of `Golden`
    """The function gives arguments and outputs of the program of its name."""

    def declare(reference: Reference) -> Reference:
        GOLDEN[reference.__name__] = Golden(reference, **how)
        return reference

    return declare
