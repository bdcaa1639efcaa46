"""`// RUN:` and `// EXPECT:` lines of a program: what to try with it, and what must come of it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ptokit.diagnostics.diagnostic import Diagnostic, PtoError

if TYPE_CHECKING:
    from ptokit.api.compare import Tolerance
    from ptokit.tools.verdicts import KernelVerdicts

LINE = re.compile(r"//\s*(RUN|EXPECT):\s*(.*?)\s*$")
COMMANDS = ("check", "run")
ON = r"(?: on (?P<targets>\w+(?:, *\w+)*))?"
VERDICT = re.compile(rf"(?P<word>legal|refused|undecided){ON}")
FINDING = re.compile(
    r"(?:(?P<severity>error|warning|hint)\[)?(?P<slug>[a-z][a-z0-9-]*)\]?"
    rf"(?: at line (?P<line>[+-]?\d+))?{ON}"
)
VALUE = re.compile(r"(?P<name>[\w.$-]+(?:@\d+)?) == (?P<wanted>.+?)(?: within (?P<within>[^()]+))?")
WITHIN = re.compile(r"(?P<ulp>\d+) ulp|(?P<name>[ra]tol)[ =](?P<number>[\d.eE+-]+)")
FORMS = "a verdict, SLUG at line N, or NAME == VALUE within N ulp"


class ExpectationError(Exception):
    """A RUN or EXPECT line that cannot be read: the file, the line, and why."""

    def __init__(self, file: Path, line: int, message: str) -> None:
        super().__init__(f"{file}:{line}: {message}")


@dataclass(frozen=True)
class ExpectedVerdict:
    """The verdict that `check` must reach on these targets; without targets, on all."""

    text: str
    word: str
    targets: tuple[str, ...]

    def judge(self, found: Mapping[str, str]) -> Iterator[str]:
        """Tell which targets, of verdicts by target, decide otherwise."""
        for target in self.targets or found:
            word = found.get(target, "not checked")
            if word != self.word:
                yield f"{self.text}: {target} is {word}"


@dataclass(frozen=True)
class ExpectedFinding:
    """A diagnostic by slug, and where a line or targets are named also by these."""

    text: str
    severity: str | None
    slug: str
    line: int | None
    targets: tuple[str, ...]

    def matches(self, found: Diagnostic) -> bool:
        """True if a diagnostic is as expected, on whatever target."""
        return (
            found.slug == self.slug
            and self.severity in (None, found.severity.value)
            and self.line in (None, None if found.span is None else found.span.line)
        )

    def judge(self, found: Iterable[Diagnostic]) -> Iterator[str]:
        """Tell that there is no such diagnostic, or on which targets there is none."""
        mine = [one for one in found if self.matches(one)]
        if not mine:
            yield f"{self.text}: there is none"
        for target in self.targets if mine else ():
            if not any(not one.targets or target in one.targets for one in mine):
                yield f"{self.text}: there is none on {target}"


@dataclass(frozen=True)
class ExpectedValue:
    """An output: a file, or an expression of NumPy over the arguments."""

    text: str
    line: int
    name: str
    wanted: str
    within: Tolerance


AnyExpectation = ExpectedVerdict | ExpectedFinding | ExpectedValue


@dataclass(frozen=True)
class RunLine:
    """A command to try, and what must come of it; `words` are those behind KERNEL."""

    line: int
    command: str
    words: tuple[str, ...]
    expected: tuple[AnyExpectation, ...]

    @property
    def findings(self) -> list[ExpectedFinding]:
        """The diagnostics that are expected."""
        return [one for one in self.expected if isinstance(one, ExpectedFinding)]

    @property
    def values(self) -> list[ExpectedValue]:
        """The outputs that are expected."""
        return [one for one in self.expected if isinstance(one, ExpectedValue)]

    def judge_findings(self, found: Sequence[Diagnostic]) -> Iterator[str]:
        """Tell which diagnostics are missing, and which errors nothing expects."""
        for one in self.findings:
            yield from one.judge(found)
        for other in found:
            if other.is_error and not any(one.matches(other) for one in self.findings):
                place = "" if other.span is None else f"line {other.span.line}: "
                yield f"unexpected {place}error[{other.slug}]: {other.message}"

    def judge_check(self, checks: Sequence[KernelVerdicts]) -> Iterator[str]:
        """Tell in what `check` found otherwise than expected."""
        words = {v.target: v.word.value for check in checks for v in check.verdicts}
        verdicts = [one for one in self.expected if isinstance(one, ExpectedVerdict)]
        for one in verdicts:
            if checks and not words:
                yield f"{one.text}: the file cannot be read"
            yield from one.judge(words)
        if self.findings or not verdicts:
            yield from self.judge_findings([d for check in checks for d in check.diagnostics])


def run_lines(text: str, file: Path) -> list[RunLine]:
    """Return the RUN lines of a program with what is expected of each.

    An EXPECT line belongs to the RUN line above it; one behind an instruction to every `check`.
    """
    runs: list[tuple[int, list[str], list[AnyExpectation]]] = []
    beside: list[AnyExpectation] = []
    for number, line in enumerate(text.splitlines(), 1):
        match = LINE.search(line)
        if match is None:
            continue
        kind, words = match.groups()
        if kind == "RUN":
            runs.append((number, _words(words, file, number), []))
        elif line[: match.start()].strip():
            beside.append(_expectation(words, file, number, beside=True))
        elif runs:
            runs[-1][2].append(_expectation(words, file, number))
        else:
            raise ExpectationError(file, number, "EXPECT belongs below a line `// RUN: COMMAND`")
    found = [
        RunLine(n, w[0], tuple(w[1:]), (*e, *(beside if w[0] == "check" else ())))
        for n, w, e in runs
    ]
    if beside and not any(run.command == "check" for run in found):
        raise ExpectationError(file, 1, "EXPECT behind an instruction needs `// RUN: check`")
    for run in found:
        _require_fit(run, file)
    return found


def _words(text: str, file: Path, number: int) -> list[str]:
    try:
        words = [word for word in shlex.split(text) if word != "%s"]
    except ValueError as problem:
        raise ExpectationError(file, number, f"RUN: {problem}") from None
    words = words[words[:1] == ["ptokit"] :]
    if not words or words[0] not in COMMANDS:
        seen = f"`{words[0]}`" if words else "nothing"
        raise ExpectationError(file, number, f"RUN: expected check or run, got {seen}")
    return words


def _require_fit(run: RunLine, file: Path) -> None:
    for one in run.expected:
        if isinstance(one, ExpectedValue if run.command == "check" else ExpectedVerdict):
            raise ExpectationError(file, run.line, f"{one.text}: not of `{run.command}`")


def _expectation(text: str, file: Path, number: int, *, beside: bool = False) -> AnyExpectation:
    from ptokit.diagnostics.catalogue import CATALOGUE
    from ptokit.diagnostics.nearest import did_you_mean

    said = f"line {number}: expected {text}"
    if match := VALUE.fullmatch(text):
        within = _within(match["within"], file, number)
        return ExpectedValue(said, number, match["name"], match["wanted"], within)
    if match := VERDICT.fullmatch(text):
        return ExpectedVerdict(said, match["word"], _targets(match["targets"], file, number))
    match = FINDING.fullmatch(text)
    if match is None:
        raise ExpectationError(file, number, f"cannot read EXPECT: {text}; expected {FORMS}")
    if match["slug"] not in CATALOGUE:
        near = did_you_mean(match["slug"], CATALOGUE)
        why = f"; {near}" if near else f"; expected {FORMS}"
        raise ExpectationError(file, number, f"EXPECT: no slug {match['slug']}{why}")
    line = number if beside else None
    if match["line"] is not None:
        line = int(match["line"]) + (number if match["line"][0] in "+-" else 0)
    targets = _targets(match["targets"], file, number)
    return ExpectedFinding(said, match["severity"], match["slug"], line, targets)


def _targets(text: str | None, file: Path, number: int) -> tuple[str, ...]:
    from ptokit.isa.model.targets import ARCHES, MACHINES

    found = tuple(ARCHES.get(word) or word for word in re.findall(r"\w+", text or ""))
    for name in found:
        if name not in MACHINES:
            known = ", ".join(MACHINES)
            raise ExpectationError(file, number, f"EXPECT: no target {name}; there are {known}")
    return found


def _within(text: str | None, file: Path, number: int) -> Tolerance:
    """The tolerance in words: `2 ulp`, `rtol 1e-3, atol 1e-6`; none is exact."""
    from ptokit.api.compare import Tolerance

    if text is None:
        return Tolerance(0.0)
    given: dict[str, float] = {}
    for part in text.split(","):
        match = WITHIN.fullmatch(part.strip())
        if match is None:
            raise ExpectationError(
                file, number, f"EXPECT: within {text}; expected `2 ulp` or `rtol 1e-3, atol 1e-6`"
            )
        if match["ulp"] is not None:
            return Tolerance(ulp=int(match["ulp"]))
        given[match["name"]] = float(match["number"])
    return Tolerance(given.get("rtol"), given.get("atol"))


def shown(problem: PtoError | Sequence[Diagnostic]) -> str:
    """Diagnostics as a terminal shows them."""
    found = problem.diagnostics if isinstance(problem, PtoError) else problem
    return "\n\n".join(one.render() for one in found)
