"""Diagnostics: the fault, its place, the rule that is broken, and the numbers in the rule.

Three kinds are never mixed: the program is wrong (a Diagnostic, raised as PtoError), the call is
wrong (TypeError, ValueError), ptokit is wrong (AssertionError: please report).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import Any, NamedTuple, Self, TypeAlias

from ptokit.diagnostics.catalogue import CATALOGUE, RENAMED
from ptokit.diagnostics.printable import printable
from ptokit.diagnostics.rich import Rich
from ptokit.diagnostics.source import Paint, Span, unpainted

JsonObject: TypeAlias = "Mapping[str, Any]"  # Any: a value of JSON


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"  # nothing is wrong, something could be better


class Judge(StrEnum):
    """A source that accepts or refuses programs.

    The assembler verifies text, the C++ headers assert properties of templates and arguments, and
    hardware computes what the page of an instruction says, or something undefined. `check` takes
    the strictest verdict that is certain; `--as` (in Python `judge=`) selects the verdict of one
    source.
    """

    ASSEMBLER = "assembler"
    HEADERS = "headers"
    HARDWARE = "hardware"


class Note(NamedTuple):
    """A further place or fact that explains a diagnostic."""

    message: str
    span: Span | None = None

    def __str__(self) -> str:
        return self.message if self.span is None else f"{self.message}: {self.span}"


@dataclass(frozen=True)
class Diagnostic(Rich):
    """A finding about a program: `slug` names its page in `ptokit explain`.

    `rule` is the violated formula, `when` its condition, `seen` the numbers in it, `help` what to
    do, `targets` the targets that impose the rule (empty: all), `by` the judges that refuse a
    program that breaks the rule (empty: all). `edge`: the pipes of two instructions that a flag
    would order; the first stands in a note.
    """

    slug: str
    message: str
    span: Span | None = None
    severity: Severity = Severity.ERROR
    rule: str | None = None
    when: str | None = None
    seen: str | None = None
    help: str | None = None
    targets: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    by: tuple[Judge, ...] = ()
    edge: tuple[str, str] | None = field(default=None, compare=False)

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    def judged(self, judge: Judge | None) -> Diagnostic:
        """Return the diagnostic with the severity that `judge` gives; None changes nothing."""
        if judge is None or not self.by:
            return self
        return replace(self, severity=Severity.ERROR if judge in self.by else Severity.WARNING)

    @property
    def refused_by(self) -> str:
        """The judges that refuse and the judges that accept, as text; empty if all refuse."""
        accepted = [judge for judge in Judge if judge not in self.by]
        return f"{_listed(self.by)}; accepted by: {_listed(accepted)}" if self.by else ""

    def render(self, paint: Paint = unpainted) -> str:
        """Return the message in several lines for a terminal; `paint` colours each kind of part."""
        lines = [paint("head", f"{self.severity.value}[{self.slug}]")]
        lines[0] += paint("text", f": {printable(self.message)}")
        lines += () if self.span is None else self.span.picture(paint)
        targets = f"   ({', '.join(self.targets)})" if self.targets else ""
        facts = {"rule": self.rule, "when": self.when, "refused by": self.refused_by}
        facts |= {"seen": self.seen, "help": self.help}
        for label, text in facts.items():
            if text:
                more = targets if label == "rule" else ""
                lines.append(_fact(label, f"{printable(text)}{more}", paint))
        for note in self.explained():
            lines.append(_fact("note", printable(note.message), paint))
            lines += () if note.span is None else note.span.picture(paint)
        return "\n".join(lines)

    def explained(self) -> Iterator[Note]:
        """Yield the notes, and after each note the calls that lead to its place.

        A call that leads to several places is listed once.
        """
        calls = [] if self.span is None else [*self.span.callers()]
        others = [call for n in self.notes if n.span is not None for call in n.span.callers()]
        if not others:
            yield from self.notes
        yield from (Note("called here", call) for call in calls)
        for note in self.notes if others else ():
            yield note
            for call in note.span.callers() if note.span is not None else ():
                if call not in calls:
                    calls.append(call)
                    yield Note("called here", call)

    def to_json(self) -> dict[str, object]:
        """Return the fields as JSON; `former_slugs` has the slugs of the last release."""
        place = {} if self.span is None else self.span.to_json()
        return {
            "slug": self.slug,
            "former_slugs": [old for old, new in RENAMED.items() if new == self.slug],
            "severity": self.severity.value,
            "message": self.message,
            **place,
            "rule": self.rule,
            "when": self.when,
            "seen": self.seen,
            "help": self.help,
            "targets": list(self.targets),
            "by": [judge.value for judge in self.by],
            "notes": [str(n) for n in self.explained()],
        }


def _fact(label: str, text: str, paint: Paint) -> str:
    return paint("place", "  = ") + paint("label", label) + paint("text", f": {text}")


def _listed(judges: Iterable[Judge]) -> str:
    return ", ".join(map(str, judges))


class PtoError(Exception, Rich):
    """A program is wrong; `diagnostics` says where and why."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        many = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = many
        super().__init__(many)

    def __str__(self) -> str:
        return self.render()  # only where it is asked for: searches catch thousands of errors

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Diagnostic, ...]]]:
        return type(self), (self.diagnostics,)

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows for an uncaught error: only the message."""
        return str(self).splitlines()

    def render(self, paint: Paint = unpainted) -> str:
        """Return the diagnostics as a terminal shows them, with an empty line between."""
        return "\n\n".join(d.render(paint) for d in self.diagnostics)

    def at(self, span: Span | None) -> Self:
        """Return the error with `span` as the place of each diagnostic that has none."""
        return type(self)([d if d.span else replace(d, span=span) for d in self.diagnostics])

    def noted(self, message: str) -> Self:
        """Return the error with a further note on each diagnostic."""
        note = Note(message)
        return type(self)([replace(d, notes=(*d.notes, note)) for d in self.diagnostics])


class CallError(PtoError, ValueError):
    """An error in a call of a correct program: names, arrays or files are wrong."""


def titled(slug: str, name: str, span: Span | None, **fields: Any) -> Diagnostic:  # Any: of each
    """Return the diagnostic of a slug that says what `name` does wrong by the title of the slug."""
    return Diagnostic(slug, f"{name}: {CATALOGUE[slug].title}", span, **fields)


def call_error(slug: str, message: str, span: Span | None = None, **facts: str | None) -> CallError:
    """Return a CallError with one diagnostic; `facts` are further fields of the diagnostic."""
    return CallError(error(slug, message, span, **facts).diagnostics)


def error(slug: str, message: str, span: Span | None = None, **facts: str | None) -> PtoError:
    """Return a PtoError with one diagnostic; `facts` are further fields that hold text."""
    return PtoError(Diagnostic(slug, message, span, **facts))  # type: ignore[arg-type]  # text
