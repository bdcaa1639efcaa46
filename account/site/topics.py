"""Types, layouts, memories, targets and commands: what `explain` and `--help` print of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import click

from account.site.markdown import Page, code, prose
from ptokit.tools.cli import main
from ptokit.tools.manual.topics import chapters, topics

TOPICS = {
    "types": ("Types", "Functions", "Element types"),
    "memories": ("Locations", "Layouts"),
    "targets": ("Targets", "Whose verdict"),
    "attributes": ("Values of attributes",),
    "passes": ("Passes",),
}


def topic_pages() -> Iterator[Page]:
    """A page for each subject, and one for all commands."""
    for name, titles in TOPICS.items():
        yield f"reference/{name}.md", partial(subject, titles)
    yield "reference/commands.md", commands


def subject(titles: Sequence[str]) -> str:
    """Chapters of topics: what `explain` prints of a topic is a section."""
    first, *others = titles
    listed = dict(chapters())
    lines = [f"# {', '.join((first, *map(str.lower, others)))}"]
    for title in titles:
        lines += ["", f"## {title}"] if others else []
        level = "###" if others else "##"
        for topic, says in listed[title]:
            lines += ["", f"{level} {topic}", "", prose(says), "", code(topics()[topic]())]
    return "\n".join(lines) + "\n"


def commands() -> str:
    """The help text of each command."""
    lines = ["# Commands"]
    for name, command in _every(main, "ptokit"):
        context = click.Context(command, info_name=name, max_content_width=96)
        lines += ["", f"## {name}", "", code(command.get_help(context))]
    return "\n".join(lines) + "\n"


def _every(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            assert below is not None
            yield from _every(below, f"{name} {word}")
