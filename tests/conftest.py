"""What every test gets: compiled code is kept in a folder of this run, never in the user's.

Examples that hypothesis makes are the same in each run of `make test`; `make fuzz` tries others.
No example is too slow: other programs load the machine too.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

ALONE = "PTOKIT_FUZZ" not in os.environ
MOST = 50 if ALONE else 100  # examples
settings.register_profile("ptokit", deadline=None, derandomize=ALONE, max_examples=MOST)
settings.load_profile("ptokit")
gc.set_threshold(50_000, 20, 20)  # the default ones cost a twentieth of the time


def pytest_collection_finish() -> None:
    """Spare the collector of cycles what is loaded by now: it stays to the end of the run."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=["reference", "native"])
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine: a test that names one in its parameters is of both."""
    return request.param


@pytest.fixture(scope="session", autouse=True)
def code_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One folder for all processes of a run."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PTOKIT_CACHE", str(folder / "code"))
        yield
