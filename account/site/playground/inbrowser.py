"""What the playground asks of ptokit, in a Python that runs in the browser: commands, as JSON.

The page executes this file in Pyodide, where neither LLVM nor greenlet exists.
"""

from __future__ import annotations

import json
import linecache
import os
import shlex
from dataclasses import asdict
from pathlib import Path
from tempfile import gettempdir

from ptokit.tools.cli.asdata import command_result

MOST = 100_000  # instructions of a run: they are interpreted
FOLDER = Path(gettempdir(), "playground")


def answer(request: str) -> str:
    """Return the answer to a request of the page; both are JSON."""
    asked = json.loads(request)
    FOLDER.mkdir(exist_ok=True)
    os.chdir(FOLDER)  # messages and arguments name files without a folder
    return json.dumps(ANSWERS[asked["do"]](asked))


def check(asked: dict[str, str]) -> dict[str, object]:
    """Check the text for all targets."""
    kernel = _written(asked)
    done = command_result(["check", "--target", "all", "--format", "json", "--", kernel])
    found = json.loads(done.text or "{}")
    problems = [*found.get("diagnostics", ()), *done.diagnostics]
    return {"verdicts": found.get("verdicts", []), "diagnostics": problems, "text": done.message}


def run(asked: dict[str, str]) -> dict[str, object]:
    """Run the text on the arguments, with the reference engine."""
    options = ["--engine", "reference", "--target", asked["target"]]
    limit = ["--max-instructions", str(MOST)]
    words = shlex.split(asked["arguments"])
    done = command_result(["run", *options, *limit, "--", _written(asked), *words])
    text = "\n".join(filter(None, (done.text, done.message)))
    return {**asdict(done), "text": text}


def layout(asked: dict[str, str]) -> dict[str, object]:
    """Draw the layout of a tile."""
    picture = Path("layout.svg")
    picture.unlink(missing_ok=True)
    words = [asked["dtype"], asked["shape"], asked["layout"]]
    done = command_result(["layout", "--svg", str(picture), "--", *words])
    drawn = picture.read_text(encoding="utf-8") if picture.exists() else ""
    return {"svg": drawn, "text": done.message, "diagnostics": done.diagnostics}


ANSWERS = {"check": check, "run": run, "layout": layout}


def _written(asked: dict[str, str]) -> str:
    """Write the text to a file; return its name."""
    name = "kernel.py" if asked["language"] == "python" else "kernel.pto"
    Path(name).write_text(asked["text"], encoding="utf-8")
    linecache.clearcache()  # of the file as it was before
    return name
