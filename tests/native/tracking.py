"""The memories whose shadow compiled code keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptokit.engines.native.compile import Job


def tracked_memories(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[set[str]]:
    """Return a list that gets the names of each function that is compiled; none is cached."""
    monkeypatch.setenv("PTOKIT_CACHE", str(folder / "code"))
    found: list[set[str]] = []
    settled = Job.settled

    def noted(job: Job) -> object:
        made = settled(job)
        found.append(set(made[0].tracked))
        return made

    monkeypatch.setattr(Job, "settled", noted)
    return found
