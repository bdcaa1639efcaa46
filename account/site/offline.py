"""Search without a network, also in files: the worker of the search inside a script of the page.

A page that a browser opens as a file may start no worker from another file. The template loads a
remedy from another host; here it is a script of the site, which starts the same text as a blob.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

REMOTE = re.compile(r'<script src="?https://unpkg\.com/[^>]*></script>')
FOREIGN = re.compile(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="?(https?://[^" >]+)')
SCRIPT = """\
if (location.protocol === "file:") {
  const text = %s;
  const Remote = window.Worker;
  window.Worker = class extends Remote {
    constructor(place, how) {
      const search = String(place).includes("/workers/search.");
      const blob = new Blob([text], { type: "text/javascript" });
      super(search ? URL.createObjectURL(blob) : place, how);
    }
  };
}
"""


def without_a_network(site: Path) -> None:
    """Replace the script of another host on every page by one of the site."""
    (worker,) = (site / "assets" / "javascripts" / "workers").glob("search.*.js")
    text = worker.read_text(encoding="utf-8")
    (site / "offline.js").write_text(SCRIPT % json.dumps(text), encoding="utf-8")
    for path in site.rglob("*.html"):
        up = "../" * (len(path.relative_to(site).parts) - 1)
        page = path.read_text(encoding="utf-8")
        page = REMOTE.sub(f'<script src="{up}offline.js"></script>', page)
        path.write_text(page, encoding="utf-8")


def foreign(site: Path) -> list[str]:
    """What pages load from other hosts by themselves."""
    found = (
        (p, FOREIGN.search(p.read_text(encoding="utf-8"))) for p in sorted(site.rglob("*.html"))
    )
    return [f"{path.relative_to(site)}: {seen[1]}" for path, seen in found if seen]
