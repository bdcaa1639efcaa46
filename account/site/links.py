"""Links of a built site that lead nowhere."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Names(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what an element is called, and where it leads."""
        for key, value in attrs:
            if key in ("href", "src") and value:
                self.links.add(value)
            elif key in ("id", "name") and value:
                self.anchors.add(value)


@cache
def names(path: Path) -> Names:
    return Names(path.read_text(encoding="utf-8"))


def broken(site: Path) -> list[str]:
    """Each link to a file or heading that the site has not, with its page; other hosts aside."""
    found: list[str] = []
    for page in sorted(site.rglob("*.html")):
        for link in sorted(names(page).links):
            place = urlsplit(link)
            if place.scheme or place.netloc:
                continue
            base = site if place.path.startswith("/") else page.parent
            there = (base / unquote(place.path).lstrip("/")).resolve() if place.path else page
            there = there / "index.html" if there.is_dir() else there
            missing = not there.is_file() or (
                place.fragment
                and there.suffix == ".html"
                and unquote(place.fragment) not in names(there).anchors
            )
            if missing:
                found.append(f"{page.relative_to(site)}: {link}")
    return found
