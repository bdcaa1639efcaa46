"""`pto.lanes`: the instructions on registers and masks, each made on first access."""

from ptokit.api.kernel.laneforms import LaneForm, lane_forms, lane_names


class LaneNames:
    """The instructions on registers and masks as attributes; `dir` lists them."""

    def __getattr__(self, name: str) -> LaneForm:
        """Return the instruction called `name`; AttributeError if there is none."""
        found = lane_forms(name)
        if not found:
            raise AttributeError(
                f"no instruction on registers is called {name!r}; dir(pto.lanes) lists them"
            )
        setattr(self, name, found[0])
        return found[0]

    def __dir__(self) -> list[str]:
        return [*lane_names()]


lanes = LaneNames()
