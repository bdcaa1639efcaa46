"""A plugin of pytest: programs with `// RUN:` lines are tests, `pto_target` is a fixture.

pytest imports this file at each start, in whatever project: it imports the rest when a test needs
it. docs/pytest.md is the guide.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ptokit.tools.expectations import RunLine

MARK = b"// RUN:"
LARGEST = 1 << 22  # bytes of a program that is looked at


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that narrows targets."""
    parser.getgroup("ptokit").addoption(
        "--pto-target",
        action="append",
        metavar="NAME",
        help="Run tests of the fixture pto_target, and `run --target all`, on this target alone.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", "pto_targets(NAME, ...): the targets of `pto_target`.")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test of `pto_target` each target."""
    if "pto_target" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("pto_targets")
        names = _targets(metafunc.config, marker.args if marker else ())
        metafunc.parametrize("pto_target", names, indirect=True)


@pytest.fixture
def pto_target(request: pytest.FixtureRequest) -> Generator[str]:
    """The name of a target, which is the current one during the test."""
    from ptokit.launch.settings import target

    with target(request.param):
        yield request.param


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect programs with RUN lines."""
    if file_path.suffix != ".pto":
        return None
    with file_path.open("rb") as file:
        if MARK not in file.read(LARGEST):
            return None
    return ProgramFile.from_parent(parent, path=file_path)  # pyright: ignore - pytest's own words


def _targets(config: pytest.Config, names: tuple[str, ...] = ()) -> list[str]:
    """The targets of a test: those it names, or all, of which `--pto-target` chooses."""
    from ptokit.isa.model.targets import MACHINES, TARGETS

    chosen: list[str] = config.getoption("--pto-target") or []
    for name in (*names, *chosen):
        if name not in MACHINES:
            raise pytest.UsageError(f"no target {name}; there are {', '.join(MACHINES)}")
    every = [*names] or [*TARGETS, *(n for n in chosen if n not in TARGETS)]
    return [name for name in every if not chosen or name in chosen]


class ProgramFile(pytest.File):
    """A program with RUN lines."""

    def collect(self) -> Iterator[ProgramItem]:
        """A test for each RUN line, and for `run --target all` one for each target."""
        from ptokit.tools.expectations import ExpectationError, run_lines

        try:
            runs = run_lines(self.path.read_text(encoding="utf-8", errors="replace"), self.path)
        except ExpectationError as problem:
            raise self.CollectError(str(problem)) from None
        for run in runs:
            for target, words in self._variants(run):
                suffix = f"[{target}]" if target else ""
                name = f"{run.command}:{run.line}{suffix}"
                made: ProgramItem = ProgramItem.from_parent(self, name=name)  # pyright: ignore - as above
                made.run, made.words = run, words
                yield made

    def _variants(self, run: RunLine) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The words of a RUN line; of `run --target all` those for each target."""
        words, every = " ".join(run.words), "--target all"
        if run.command == "check" or every not in words:
            yield "", run.words
            return
        at = [*run.words].index("--target") + 1
        for target in _targets(self.config):
            yield target, (*run.words[:at], target, *run.words[at + 1 :])


class Unexpected(Exception):
    """The result of a RUN line differs from what its EXPECT lines state."""


class ProgramItem(pytest.Item):
    """One RUN line of a program."""

    run: RunLine
    words: tuple[str, ...]

    def runtest(self) -> None:
        """Run the command in the folder of the program, and judge what comes of it."""
        from ptokit.tools.cli.tried import tried

        report = tried(self.path, self.run, self.words)
        if report:
            raise Unexpected(report)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:
        """Return the unmet expectations and the command; of other exceptions the traceback."""
        if not isinstance(excinfo.value, Unexpected):
            return str(super().repr_failure(excinfo))
        command = " ".join(("ptokit", self.run.command, self.path.name, *self.words))
        return f"{excinfo.value}\n\nin line {self.run.line}: {command}"

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the RUN line stands."""
        return self.path, self.run.line - 1, self.name
