"""One command of ptokit with its result as JSON: `python -m ptokit.tools.cli.asdata check k.pto`.

The command runs in a process of its own: an edited kernel in Python is imported again in each
call, and a kernel that crashes or does not end leaves the caller alone.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict
from io import StringIO

from ptokit.tools.cli import main
from ptokit.tools.commandresult import CommandResult
from ptokit.tools.terminal import collecting


def command_result(words: Sequence[str]) -> CommandResult:
    """Run the command `ptokit WORDS...` in this process and return its result."""
    text, message, status = StringIO(), StringIO(), 0
    with collecting() as found, redirect_stdout(text), redirect_stderr(message):
        try:
            main([*words], prog_name="ptokit")
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
    diagnostics = [one.to_json() for one in found]
    return CommandResult(status, text.getvalue(), message.getvalue().strip(), diagnostics)


def print_result() -> None:
    """Run the command of the process's own words and print its result as JSON.

    What compiled kernels print themselves goes to standard error, not into the JSON.
    """
    with open(os.dup(1), "w", encoding="utf-8") as answer:
        os.dup2(2, 1)
        json.dump(asdict(command_result(sys.argv[1:])), answer)


if __name__ == "__main__":
    print_result()
