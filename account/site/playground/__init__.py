"""The playground: a page of the site in which kernels are checked and run by the browser itself."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from account.site.guides import DOCS, ROOT
from account.site.markdown import Page
from account.site.playground import inbrowser

HERE = Path(__file__).parent
FILES = (HERE / "playground.js", HERE / "playground.css")
WHEEL = "playground-wheel.js"  # a script, since a page that is opened as a file may fetch none
# where browsers get Python from; PYODIDE names another copy, such as one beside the site
PYODIDE = os.environ.get("PYODIDE") or "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/"
FIRST = re.compile(r"```python\n(.*?)```", re.S)
SPEC = 'pto.spec("f32", (4096, 1536))'  # rows that fit into the memory of an A5 alone


def examples() -> dict[str, dict[str, str]]:
    """Return the texts to begin with: what each is called, its language and its arguments."""
    start = FIRST.findall((DOCS / "index.md").read_text(encoding="utf-8"))[0]
    kernel = start.replace("import numpy as np\n\n", "").rstrip()
    softmax = f"{kernel}\n\n\nsoftmax.program({SPEC}, {SPEC})  # what it is checked for\n"
    found = {"softmax": _example("A softmax in Python", softmax, "x=random:f32:8x6 y=f32:8x6")}
    for name, title, words in (
        ("overrun", "A window that leaves its tile, in assembly", ""),
        ("stream", "Two buffers and flags, in assembly", "x=random:f32:64x512 y=f32:64x512"),
    ):
        text = (ROOT / "examples" / f"{name}.pto").read_text(encoding="utf-8")
        found[name] = _example(title, text, words, "pto")
    return found


def _example(title: str, text: str, words: str, language: str = "python") -> dict[str, str]:
    return {"title": title, "text": text, "arguments": words, "language": language}


def playground_pages() -> Iterator[Page]:
    yield "playground.md", playground_page


def playground_page(pyodide: str = PYODIDE) -> str:
    """Return the page, with its examples in it."""
    host = pyodide.partition("://")[2].partition("/")[0] or "this site"
    texts = json.dumps(examples()).replace("<", "\\u003c").replace("&", "\\u0026")
    page = (HERE / "page.md").read_text(encoding="utf-8")
    words = {"host": host, "most": f"{inbrowser.MOST:,}", "pyodide": pyodide, "examples": texts}
    for name, word in words.items():
        page = page.replace(f"{{{name}}}", word)
    return page


def wheel_script() -> str:
    """Return a script with ptokit's wheel, which is built from this tree, and the Python part."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, "."]
        subprocess.run(command, cwd=ROOT, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        packed = base64.b64encode(wheel.read_bytes()).decode()
    glue = Path(inbrowser.__file__).read_text(encoding="utf-8")
    return f"window.ptokitPlayground = {json.dumps({'wheel': packed, 'glue': glue})};\n"
