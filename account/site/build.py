"""The site as a folder: gathered, given to zensical, and looked through for broken links."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from account.site.diagnostics import diagnostic_pages
from account.site.guides import assets, guides
from account.site.instructions import instruction_pages
from account.site.links import broken
from account.site.notebooks import NOTEBOOKS, notebook_pages
from account.site.offline import foreign, without_a_network
from account.site.playground import FILES, WHEEL, playground_pages, wheel_script
from account.site.topics import topic_pages

HERE = Path(__file__).parent
STYLE = HERE / "site.css"
NAV: list[Mapping[str, object]] = [
    {"Start": "index.md"},
    {"Playground": "playground.md"},
    {
        "Guides": [
            {"Kernels in Python": "kernels.md"},
            {"Programs in assembly": "assembly.md"},
            {"Kernels in C++": "cpp.md"},
            {"Vector functions below tiles": "below-tiles.md"},
            {"The machine": "machine.md"},
            {"Several cores": "cores.md"},
            {"Several ranks": "ranks.md"},
            {"Debugging": "debugging.md"},
            {"Tiles, bundles, golden data": "sharing.md"},
            {"In a test suite": "pytest.md"},
            {"Predicted time": "profile.md"},
            {"Costs of instructions": "costs.md"},
            {"Tile sizes": "tuning.md"},
            {"Clusters": "cluster.md"},
            {"Coding assistants": "agents.md"},
            {"From Triton": "from-triton.md"},
            {"From Ascend C": "from-ascend-c.md"},
        ]
    },
    {
        "Reference": [
            {"Instructions": "reference/instructions.md"},
            {"Diagnostics": "reference/diagnostics.md"},
            {"Types": "reference/types.md"},
            {"Memories and layouts": "reference/memories.md"},
            {"Targets": "reference/targets.md"},
            {"Values of attributes": "reference/attributes.md"},
            {"Passes": "reference/passes.md"},
            {"Commands": "reference/commands.md"},
            {"Where sources disagree": "reference/disputes.md"},
            {"Glossary": "glossary.md"},
        ]
    },
    {"Lessons": [f"gallery/{path.stem}.md" for path in NOTEBOOKS]},
    {
        "中文": [
            {"开始": "zh/index.md"},
            {"Python kernel": "zh/kernels.md"},
            {"汇编程序": "zh/assembly.md"},
            {"C++ kernel": "zh/cpp.md"},
            {"机器": "zh/machine.md"},
            {"指令的代价": "zh/costs.md"},
            {"调试": "zh/debugging.md"},
            {"从 Triton 迁移": "zh/from-triton.md"},
            {"从 Ascend C 迁移": "zh/from-ascend-c.md"},
        ]
    },
    {
        "Inside": [
            {"Architecture": "architecture.md"},
            {"The native engine": "native.md"},
            {"Speed": "speed.md"},
            {"Writing a page": "writing-a-page.md"},
            {"Founding documents": "seeds.md"},
            {"Contributing": "contributing.md"},
            {"Changes": "changelog.md"},
        ]
    },
]


def site_pages() -> dict[str, Callable[[], str]]:
    """What writes each page of the site in English, by the page's place."""
    reference = (instruction_pages, diagnostic_pages, topic_pages)
    parts = (guides, *reference, notebook_pages, playground_pages)
    return dict(page for part in parts for page in part())


def settings() -> dict[str, object]:
    """What zensical reads: no fonts, scripts or pictures of other hosts; search in the browser."""
    return {
        "site_name": "ptokit",
        "site_description": "Write, check and run PTO tile kernels on a laptop",
        "docs_dir": "en",
        "site_dir": "site",
        "nav": NAV,
        "extra_css": ["site.css", "playground.css"],
        "extra": {"generator": False},
        "theme": {
            "language": "en",
            "font": False,
            "features": [
                "content.code.copy",
                "navigation.footer",
                "navigation.tabs",
                "navigation.top",
                "search.highlight",
                "toc.follow",
            ],
            "palette": [
                {
                    "media": "(prefers-color-scheme)",
                    "toggle": {"icon": "lucide/sun-moon", "name": "Switch to light mode"},
                },
                {
                    "media": "(prefers-color-scheme: light)",
                    "scheme": "default",
                    "toggle": {"icon": "lucide/sun", "name": "Switch to dark mode"},
                },
                {
                    "media": "(prefers-color-scheme: dark)",
                    "scheme": "slate",
                    "toggle": {"icon": "lucide/moon", "name": "Follow the system"},
                },
            ],
        },
        "plugins": ["search", "offline"],
        "markdown_extensions": [
            "attr_list",
            "md_in_html",
            "tables",
            {"toc": {"permalink": True}},
            {"pymdownx.highlight": {"pygments_lang_class": True}},
            "pymdownx.inlinehilite",
            "pymdownx.superfences",
        ],
    }


def gather(folder: Path) -> None:
    """Write the sources of the site into an empty folder."""
    for place, write in site_pages().items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(write(), encoding="utf-8")
    for path in (*assets(), STYLE, *FILES):
        shutil.copy(path, folder)
    (folder / WHEEL).write_text(wheel_script(), encoding="utf-8")


def build(out: Path) -> None:
    """Build the site into a folder, which is emptied before."""
    work = out.with_name(f"{out.name}-sources")
    for folder in (work, out):
        shutil.rmtree(folder, ignore_errors=True)
    gather(work / "en")
    (work / "mkdocs.yml").write_text(json.dumps(settings(), indent=1), encoding="utf-8")
    zensical = [sys.executable, "-m", "zensical", "build", "--strict"]
    subprocess.run([*zensical, "--config-file", "mkdocs.yml"], cwd=work, check=True)
    (work / "site").rename(out)
    without_a_network(out)
    faults = [*broken(out), *foreign(out)]
    if faults:
        raise SystemExit("\n".join(["links that lead nowhere or to other hosts:", *faults]))
    print(f"open {out / 'index.html'}")


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
