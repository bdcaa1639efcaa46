"""The names of a kernel's parameters, read from its text: what arrays are called in messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ptokit.api.cxx.translation import read

NAME = re.compile(r"(\w+)\s*(?:\[\s*\])?\s*(?:=.*)?$", re.DOTALL)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
OPENED, CLOSED = "(<[{", ")>]}"


def parameter_names(files: Sequence[Path], kernel: str) -> list[str]:
    """Return the names of the parameters of `kernel`; none where its text does not tell."""
    name = kernel.partition("<")[0].strip().rpartition("::")[2]
    for file in files:
        text = COMMENT.sub(" ", read(file))
        for found in re.finditer(rf"\bvoid\s+{re.escape(name)}\s*\(", text):
            names = [NAME.search(part) for part in _split(text[found.end() :])]
            if all(names):
                return [match[1] for match in names if match]
    return []


def _split(text: str) -> list[str]:
    """Split what stands before the bracket that closes, at the commas outside of others."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in OPENED) - (sign in CLOSED)
        if depth < 0:
            break
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip() not in ("", "void")]
