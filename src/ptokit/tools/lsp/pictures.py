"""Pages beside a text: the report of a profile, the memory map, the layout of a tile."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import mkdtemp

from ptokit.diagnostics.diagnostic import PtoError, call_error
from ptokit.isa.model.tiles import TileType
from ptokit.tools.lsp.checking import CheckedProgram
from ptokit.tools.lsp.editedtext import EditedText
from ptokit.tools.lsp.pythonfiles import command


def profile_page(checked: CheckedProgram) -> str:
    """The HTML report of the program with zeros as arrays, on the first target with times."""
    from ptokit.machine.costs.figures import has_figures
    from ptokit.tools.report import report

    timed = (name for name, target in checked.targets.items() if has_figures(target))
    name = next(timed, None)
    return report(checked.program.profile(target=name))


def memory_page(checked: CheckedProgram) -> str:
    """The memory maps on each target, as a picture."""
    from ptokit.tools.memorypicture import memory_svg

    maps = [one for maps in checked.memory.values() for one in maps]
    if not maps:
        raise call_error("empty-program", "no tile to place")
    return memory_svg(maps)


def layout_page_at(text: EditedText, offset: int) -> str:
    """The layout of the tile whose name or alias stands at a place, as a picture."""
    from ptokit.tools.svg import layout_svg

    at = text.token_at(offset)
    word = "" if at is None else text.tokens.texts[at]
    found = None if at is None or word[:1] != "%" else text.named(at)
    kind = text.reading.aliases.get(word) if found is None else found.value.type
    if not isinstance(kind, TileType):
        raise call_error("argument-type", "there is no tile here: place the cursor on its name")
    return layout_svg(kind)


async def python_picture(path: str, what: str) -> str:
    """The report, or the memory map, of the kernel in a Python file as it is saved."""
    folder = mkdtemp(prefix="ptokit-")
    file = Path(folder, "picture.html" if what == "profile" else "picture.svg")
    words = ["profile", path, "--html"] if what == "profile" else ["check", path, "--memory"]
    try:
        status, _, wrong = await command(*words, str(file))
        if not file.exists():
            raise call_error("no-sample-run", wrong.strip() or f"`ptokit {what}` gave {status}")
        return file.read_text(encoding="utf-8")
    finally:
        if file.exists():
            os.unlink(file)
        os.rmdir(folder)


def told(problem: PtoError) -> str:
    """Return the text that a message window shows of an error."""
    return "; ".join(
        d.message + (f" (line {d.span.line})" if d.span else "") for d in problem.diagnostics
    )
