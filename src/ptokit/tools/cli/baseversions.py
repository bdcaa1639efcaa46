"""Earlier versions of kernels, for `profile --compare`: of a file, a folder, or a commit of git.

Each is profiled by a process of its own: a file in Python imports the modules of its own version.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ptokit.diagnostics.diagnostic import JsonObject
from ptokit.tools.cli.failures import usage


@contextmanager
def versions(base: str, kernels: Sequence[Path]) -> Generator[dict[Path, Path]]:
    """The files of an earlier version, by kernel, while inside; a kernel that it lacks is left out.

    A usage error if there is no such version.
    """
    if Path(base).is_file() or base.partition(":")[0].endswith(".py"):
        if len(kernels) > 1:
            usage(f"--compare {base} is a file: give one kernel")
        if not _file(Path(base)).is_file():
            usage(f"--compare {base}: No such file or directory")
        yield {kernels[0]: Path(base)}
        return
    if any(str(kernel) == "-" for kernel in kernels):
        usage(f"--compare {base}: standard input has no earlier version; compare with a file")
    if Path(base).is_dir():
        yield _below(Path(base), {kernel: kernel for kernel in kernels})
        return
    with TemporaryDirectory(prefix="ptokit-base-") as folder:
        yield _below(Path(folder), _checked_out(base, kernels, folder))


def _file(kernel: Path) -> Path:
    """The file of FILE.py:NAME."""
    return kernel.with_name(kernel.name.partition(":")[0])


def _below(folder: Path, kernels: Mapping[Path, Path]) -> dict[Path, Path]:
    """The kernels that a folder has."""
    found = {kernel: folder / place for kernel, place in kernels.items()}
    return {kernel: place for kernel, place in found.items() if _file(place).is_file()}


def _checked_out(base: str, kernels: Sequence[Path], folder: str) -> dict[Path, Path]:
    """Put the files of a commit into a folder; the places of the kernels in it.

    Of a kernel in assembly the file alone, otherwise all: Python imports, and C++ includes.
    """
    where = _file(kernels[0]).absolute().parent
    words = ("--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    commit = _git(base, where, "rev-parse", *words)
    root = Path(_git(base, where, "rev-parse", "--show-toplevel").decode().strip())
    places = dict[Path, Path]()
    for kernel in kernels:
        full = kernel.absolute().resolve()
        if not full.is_relative_to(root.resolve()):
            usage(f"--compare {base}: {kernel} is outside of the repository {root}")
        places[kernel] = full.relative_to(root.resolve())
    name = commit.decode().strip()
    only: list[str] = []
    if all(place.suffix == ".pto" for place in places.values()):
        names = [place.as_posix() for place in places.values()]
        listed = _git(base, root, "ls-tree", "-r", "-z", "--name-only", name, "--", *names)
        only = [f":(literal){one}" for one in listed.decode().split("\0") if one]
        if not only:
            return {}
    packed = _git(base, root, "archive", "--format=tar", name, "--", *only)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return places


def _git(base: str, folder: Path, *words: str) -> bytes:
    """Return the answer of git; a usage error where git fails."""
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    except OSError:
        usage(f"--compare {base}: no file or folder of this name, and git cannot be started")
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        reason = f" ({said[-1]})" if said else ""
        usage(f"--compare {base}: no file, folder or commit of this name{reason}")
    return done.stdout


def profiled(
    places: Mapping[Path, Path], words: Sequence[str]
) -> dict[tuple[str, str], JsonObject]:
    """Profile earlier versions with these words of the command line; by kernel and target."""
    if not places:
        return {}
    files = [str(place) for place in places.values()]
    command = [sys.executable, "-P", "-m", "ptokit", "profile", *files, *words, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        profiles = json.loads(done.stdout)["profiles"]
    except ValueError:
        said = done.stderr.strip().splitlines()
        usage(f"--compare: the earlier version: {said[-1] if said else 'it ends without a word'}")
    found: dict[tuple[str, str], JsonObject] = {}
    for one in profiles:
        for kernel, place in places.items():
            label: str = one["kernel"]
            if label == str(place) or label.startswith((f"{place}:", f"{place}, ")):
                name = f"{kernel}{label[len(str(place)) :]}"
                found[name, one["target"]] = {**one, "kernel": name}
    return found
