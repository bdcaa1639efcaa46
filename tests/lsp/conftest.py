"""The session of an editor that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from session import Session


@pytest.fixture(scope="session")
def session() -> Iterator[Session]:
    """To start a server takes longer than most of what is asked of it."""
    made = Session()
    yield made
    made.end()
