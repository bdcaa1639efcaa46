"""Control characters and bidirectional marks of users: a terminal shows them as escapes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from commands import ptokit

from every import every
from forking import python
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.diagnostics.printable import printable
from ptokit.diagnostics.source import Source, Span

HIDDEN = {
    "\x1b[2J": "\\x1b[2J",
    "\x1b]0;title\x07": "\\x1b]0;title\\x07",
    "\r": "\\r",
    "\x7f\x9b": "\\x7f\\x9b",
    "a\u202eb\u2066c": "a\\u202eb\\u2066c",
    "\u200b\ufeff\u2028": "\\u200b\\ufeff\\u2028",
    "\U000e0041": "\\U000e0041",
    "\udc80": "\\udc80",
}
NASTY = "\x1b]0;pwn\x07 \x1b[2J \u202e x"


@every("text", HIDDEN)
def test_what_a_terminal_would_not_show_is_escaped(text: str) -> None:
    assert printable(text) == HIDDEN[text]


@every("text", ["", "two\nlines\tand a tab", "größe 漢字 µs → \u3000 \u00a0"])
def test_other_text_stays(text: str) -> None:
    assert printable(text) == text


def test_carets_stand_under_what_is_shown() -> None:
    text = f"{NASTY} %no\x07pe"
    shown = Diagnostic("x", NASTY, Span(Source("f", text), len(NASTY) + 1, len(text))).render()
    line, carets = shown.splitlines()[3:5]
    assert not any(c in shown for c in NASTY if not c.isprintable())
    assert line[carets.index("^") : carets.rindex("^") + 1] == "%no\\x07pe"


def on_a_terminal(*args: str, environment: Mapping[str, str] = MappingProxyType({})) -> str:
    """What a command writes to a terminal, both streams."""
    ours, theirs = pty.openpty()
    command = [*python(), "-m", "ptokit", *args]
    env = {**os.environ, "TERM": "xterm", **environment}
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    parts: list[bytes] = []
    try:
        while part := os.read(ours, 1 << 16):
            parts.append(part)
    except OSError:  # Linux says so where the other end is closed
        pass
    finally:
        os.close(ours)
        process.wait(timeout=60)
    return b"".join(parts).decode().replace("\r\n", "\n")


@pytest.mark.parametrize("how", [["check"], ["fmt"], ["check", "--missing\x1b[2J"], ["explain"]])
def test_a_terminal_gets_no_control_characters(tmp_path: Path, how: list[str]) -> None:
    """The name of the file is as nasty as what is in it."""
    path = tmp_path / f"{NASTY[-6:]}.pto"
    path.write_text(f'func.func @f() {{\n  "pto.{NASTY[2:5]}\u202e"() : () -> ()\n  return\n}}')
    seen = on_a_terminal(*how, str(path))
    assert "\\u202e" in seen or "\\x1b" in seen
    assert not [c for c in COLOUR.sub("", seen) if not c.isprintable() and c != "\n"]


COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def written(path: Path, *words: str, **environment: str) -> str:
    command = [*python(), "-m", "ptokit", "check", str(path), *words]
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env).stdout


def test_colours_are_for_terminals_and_for_who_asks(tmp_path: Path) -> None:
    """The same text with and without; a name in the program brings no colours of its own."""
    path = tmp_path / "a.pto"
    path.write_text('func.func @f() {\n  "pto.\x1b[31mx"() : () -> ()\n  return\n}\n')
    plain = written(path)
    assert not COLOUR.search(plain)
    always = written(path, "--color", "always")
    assert "\x1b[31m\x1b[1merror[" in always
    assert COLOUR.sub("", always) == plain
    seen = on_a_terminal("check", str(path))
    assert COLOUR.sub("", seen) == plain
    assert seen != plain
    assert on_a_terminal("check", str(path), environment={"NO_COLOR": "1"}) == plain


def test_shells_complete_words() -> None:
    for shell in ("zsh", "fish"):
        assert f"_PTOKIT_COMPLETE={shell}_complete" in ptokit("completion", shell).output
    command = [*python(), "-m", "ptokit"]
    script = subprocess.run([*command, "completion", "bash"], capture_output=True, check=True)
    assert b"_PTOKIT_COMPLETE=bash_complete" in script.stdout
    env = {**os.environ, "_PTOKIT_COMPLETE": "bash_complete", "COMP_WORDS": "ptokit check --tar"}
    env["COMP_CWORD"] = "2"
    words = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
    assert words == "plain,--target\n"


def test_a_file_gets_the_text_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.pto"
    path.write_text("func.func @f() {\n  // \u202e\n  return\n}\n", encoding="utf-8")
    command = [*python(), "-m", "ptokit", "fmt", str(path)]
    assert "\u202e" in subprocess.run(command, capture_output=True, check=True).stdout.decode()
