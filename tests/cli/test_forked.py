"""A forked process of the tests does what a process of its own does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from forking import python

SEEN = "import os, sys; print(os.getcwd(), sys.argv, os.environ['SAID'], sys.stdin.read())"


def ended(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "SAID": "said"}
    return subprocess.run(
        command, cwd=folder, env=env, input="read", capture_output=True, text=True, check=False
    )


def test_a_forked_process_is_like_one_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "end.py"
    file.write_text("import sys\nprint(sys.argv, __file__)\nsys.exit('told')\n")
    lines = (
        ["-m", "ptokit", "check", "none.pto"],
        ["-c", SEEN, "word"],
        ["-c", "import os\nos.kill(os.getpid(), 9)"],
        ["-c", "import sys\nsys.exit(7)"],
        ["-c", "raise KeyboardInterrupt"],
        [str(file), "word"],
    )
    for words in lines:
        forked, alone = (
            ended([*start, *words], tmp_path) for start in (python(), (sys.executable,))
        )
        assert forked.returncode == alone.returncode, (words, forked.stderr)
        assert forked.stdout == alone.stdout
        assert ("Traceback" in alone.stderr) or forked.stderr == alone.stderr
