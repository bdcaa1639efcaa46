"""What checks kernels in a pull request: the action's script, and the hook of pre-commit."""

from __future__ import annotations

import atexit
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest
import yaml

from account.files import ROOT
from forking import python

EXAMPLES = ROOT / "examples"
NAMES = {
    **{"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b"},
    **{"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"},
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a right kernel, and a wrong one that a branch has added."""
    folder = tmp_path / "kernels of ours"
    folder.mkdir()
    git(folder, "init", "-q")
    for name in ("stream.pto", "overrun.pto"):
        (folder / name).write_bytes((EXAMPLES / name).read_bytes())
        git(folder, "add", name)
        git(folder, "commit", "-q", "-m", name)
    return folder


@cache
def path() -> str:
    """The variable PATH with a folder of commands: `ptokit`, and the interpreter's."""
    folder = Path(tempfile.mkdtemp(prefix="ptokit-"))
    atexit.register(shutil.rmtree, folder)
    (folder / "ptokit").write_text(f'#!/bin/sh\nexec {shlex.join(python())} -m ptokit "$@"\n')
    (folder / "ptokit").chmod(0o755)
    return os.pathsep.join((str(folder), str(Path(sys.executable).parent), os.environ["PATH"]))


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **NAMES})


def script(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """The action's script, with the inputs that `action.yml` gives where nobody says otherwise."""
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    env = {"TARGET": inputs["target"]["default"], "FILES": inputs["files"]["default"], **given}
    command = ["bash", str(ROOT / "action" / "check.sh")]
    env = {**os.environ, "PATH": path(), "GITHUB_STEP_SUMMARY": "", **env}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_changed_kernels_are_annotated(repository: Path) -> None:
    done = script(repository, BASE="HEAD~1", SARIF="found.sarif")
    head, *found = done.stdout.splitlines()
    assert (done.returncode, head) == (1, "ptokit checks overrun.pto")
    assert all(line.startswith("::error ") and "file=overrun.pto,line=" in line for line in found)
    (run,) = json.loads((repository / "found.sarif").read_text())["runs"]
    assert len(run["results"]) == len(found)


GH = """\
#!/bin/sh
for word in "$@"; do case $word in body=*) body=${word#body=} ;; --method) edit=1 ;; esac; done
if [ -n "$body" ]; then printf %s "$body" >"$COMMENTS/${edit:-0}"; else ls "$COMMENTS"; fi
"""  # it has a comment if it was given one; its number is 0


def test_times_are_compared_in_a_comment_that_is_written_anew(repository: Path) -> None:
    tools, comments = repository / "tools", repository / "comments"
    tools.mkdir()
    comments.mkdir()
    (tools / "gh").write_text(GH)
    (tools / "gh").chmod(0o755)
    with (repository / "stream.pto").open("a") as file:
        file.write("// changed\n")
    given = {"COMMENT": "true", "NUMBER": "7", "GITHUB_REPOSITORY": "a/b", "TARGET": "a5"}
    given |= {"COMMENTS": str(comments), "PATH": f"{tools}{os.pathsep}{path()}"}
    summary = repository / "summary"
    given |= {"GITHUB_STEP_SUMMARY": str(summary)}
    for number in ("0", "1"):  # the second one is an edit
        done = script(repository, BASE="HEAD~1", **given)
        assert done.returncode == 1
        body = (comments / number).read_text()
        assert body.splitlines()[0].startswith("<!-- ptokit")
        assert "| stream.pto | a5 | 1141 | 1141 | same |" in body
        assert "| overrun.pto | a5 | - | - |  | line 9: " in body  # not in the base, and refused
        assert "before: " not in body
    assert summary.read_text() == f"{body}\n" * 2


def test_all_kernels_without_a_base(repository: Path) -> None:
    done = script(repository, TARGET="cpu")  # which has no times
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        1,
        "ptokit checks overrun.pto stream.pto",
    )
    assert script(repository, FILES="stream.*", TARGET="cpu").returncode == 0
    assert "no kernel matches *.cce" in script(repository, FILES="*.cce").stdout


def test_inputs_reach_the_script() -> None:
    """Every variable that the script reads is given to it by the action."""
    text = (ROOT / "action" / "check.sh").read_text(encoding="utf-8")
    *_, step = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    used = {*re.findall(r"\$\{?([A-Z]\w+)", text)} - {"GITHUB_REPOSITORY", "GITHUB_STEP_SUMMARY"}
    assert {*step["env"]} == used | {"GH_TOKEN"}


def test_the_hook_takes_files(repository: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    command = [*shlex.split(hook["entry"]), "stream.pto", "overrun.pto"]
    done = subprocess.run(
        command,
        cwd=repository,
        env={**os.environ, "PATH": path()},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b"overrun.pto" in done.stdout) == (1, True)
