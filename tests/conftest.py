"""What every test gets: compiled code is kept in a folder of this run, never in the user's.

Examples that hypothesis makes are the same in each run of `make test`; `make fuzz` tries others.
No example is too slow: other programs load the machine too.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from fuzz.scale import dealt, is_edited
from ptokit.isa.lang.instr import Instr

ALONE = "PTOKIT_FUZZ" not in os.environ
MOST = 50 if ALONE else 100  # examples
settings.register_profile("ptokit", deadline=None, derandomize=ALONE, max_examples=MOST)
settings.load_profile("ptokit")
gc.set_threshold(100_000, 20, 20)  # the default ones cost a tenth of the time
# Folders whose cases are pages, which are sampled there, or are few and quick.
WHOLE = {"errors", "laws", "oracles"}
SELDOM = {*Path(__file__).with_name("seldom.txt").read_text(encoding="utf-8").split()}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deal the cases of each test out over commits, unless the command names a file.

    Cases of pages that were edited lately all run.
    """
    if any(".py" in argument for argument in config.args):
        return
    kept = set[pytest.Item]()
    for name, group in groupby(items, lambda item: item.nodeid.partition("[")[0]):
        cases, (file, _, test) = [*group], name.partition("::")
        folder = Path(file).parent.name
        if not SELDOM.isdisjoint((folder, Path(file).stem)):
            kept |= {*dealt(file, cases, seldom=True)}
        elif test in SELDOM:
            kept |= {*dealt(name, cases, seldom=True)}
        elif folder in WHOLE:
            kept |= {*cases}
        else:
            kept |= {*dealt(name, cases)}
    items[:] = [item for item in items if item in kept or of_edited_page(item)]


def of_edited_page(item: pytest.Item) -> bool:
    """Return whether a page whose file was edited lately is a parameter of a test."""
    case: Any = getattr(item, "callspec", None)  # Any: of pytest, without a public type
    given = case.params.values() if case else ()
    return any(isinstance(v, type) and issubclass(v, Instr) and is_edited(v) for v in given)


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
