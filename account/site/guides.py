"""The guides: the files of docs/ as they are, but for links that lead out of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from account.site.markdown import Page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(!?)\[([^\]\n]*)\]\((?!https?:)([^)\s]+)\)")
# pages of the repository that the site has in another form
INSTEAD = {
    "isa.md": "reference/instructions.md",
    "../README.md": "index.md",
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
}
# pages of the site that stand elsewhere in the repository
ELSEWHERE = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}


def guides() -> Iterator[Page]:
    """The pages of docs/, those in Chinese, and some that stand elsewhere."""
    for path in (*sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("zh/*.md"))):
        if path.name not in INSTEAD:
            yield str(path.relative_to(DOCS)), partial(with_links_of_the_site, path)
    for name, file in ELSEWHERE.items():
        yield name, partial(with_links_of_the_site, ROOT / file)


def with_links_of_the_site(path: Path) -> str:
    """A file with links to pages and pictures; of links to source files the text alone."""

    def link(found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        place = address(path, target)
        if words == posixpath.basename(target.partition("#")[0]) and place:
            words = title(path.parent / target.partition("#")[0])
        return f"{picture}[{words}]({place})" if place else words

    return LINK.sub(link, path.read_text(encoding="utf-8"))


def title(path: Path) -> str:
    """The heading of a guide, which a link shows instead of the name of its file."""
    heading = re.match(r"# (.*)", path.read_text(encoding="utf-8"))
    return heading[1] if heading else path.name


def address(path: Path, target: str) -> str | None:
    """Where the site has what a file of the repository names; None if the site has it not."""
    file, hash_, heading = target.partition("#")
    if not file:
        return target
    there = (path.parent / file).resolve()
    folder = path.parent.resolve() if DOCS in path.parents else DOCS
    for name, place in INSTEAD.items():
        if there == (DOCS / name).resolve():
            up = posixpath.relpath(DOCS / place, folder)
            return up if name == "isa.md" else f"{up}{hash_}{heading}"
    if there.is_relative_to(DOCS) and there.is_file():
        return f"{posixpath.relpath(there, folder)}{hash_}{heading}"
    return None


def assets() -> Iterator[Path]:
    """Pictures and schemas that the guides show."""
    yield from sorted(path for path in DOCS.iterdir() if path.suffix in (".svg", ".json"))
