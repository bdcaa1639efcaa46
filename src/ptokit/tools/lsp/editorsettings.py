"""The choices of a user: options of the start, or settings of the workspace, under `ptokit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import cast, get_type_hints

from ptokit.isa.model.targets import ARCHES, TARGETS
from ptokit.launch.settings import target_named

LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class Settings:
    """The choices of a user; names are those of the settings.

    `targets`: whose verdicts are shown. `races`: look for hazards of a text that is legal.
    `python`: check Python files when they are opened or saved, which imports them.
    `language`: of manual pages, en or zh.
    `hintTypes`, `hintPipes`, `hintAddresses`: the inlay hints.
    """

    targets: tuple[str, ...] = tuple(TARGETS)
    races: bool = True
    python: bool = True
    language: str = "en"
    hintTypes: bool = True
    hintPipes: bool = True
    hintAddresses: bool = True


def settings(given: object, problems: list[str]) -> Settings:
    """Read the settings that an editor sends; what is wrong is told and left out."""
    if not isinstance(given, Mapping):
        return Settings()
    words = cast("Mapping[str, object]", given)
    inner = words.get("ptokit")
    words = cast("Mapping[str, object]", inner) if isinstance(inner, Mapping) else words
    known, hints = {f.name for f in fields(Settings)}, get_type_hints(Settings)
    found: dict[str, object] = {}
    for name, value in words.items():
        if name not in known:
            continue  # settings of the editor's side, such as where the command is
        if name == "targets":
            found[name] = _targets(value, problems)
        elif name == "language" and value not in LANGUAGES:
            problems.append(f"setting ptokit.language: expected en or zh, got {value!r}")
        elif isinstance(value, hints[name]):
            found[name] = value
        else:
            problems.append(f"setting ptokit.{name}: expected true or false, got {value!r}")
    return replace(Settings(), **found)


def _targets(value: object, problems: list[str]) -> tuple[str, ...]:
    """The targets of a list that exist; where there are none, the usual ones."""
    listed = cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
    found: list[str] = []
    for one in listed:
        try:
            name = str(one)
            found.append(ARCHES.get(name, name))
            _ = target_named(found[-1])
        except ValueError as problem:
            found.pop()
            problems.append(f"setting ptokit.targets: {problem}")
    return tuple(dict.fromkeys(found)) or Settings.targets
