"""`pto.lanes`: the instructions on registers and masks, each made on first access."""

import sys

from ptokit.api.kernel.laneforms import LaneForm, lane_forms, lane_names

lanes = sys.modules[__name__]  # the name under which ptokit has this module


def __getattr__(name: str) -> LaneForm:
    """Return the instruction called `name`; `dir` lists them."""
    found = lane_forms(name)
    if not found:
        raise AttributeError(
            f"no instruction on registers is called {name!r}; dir(pto.lanes) lists them"
        )
    globals()[name] = found[0]
    return found[0]


def __dir__() -> list[str]:
    return [*lane_names()]
