"""What is installed elsewhere is the whole package: every file is there, the demo's commands run.

`make dist` tries the wheel that it made; `make test-all` makes one first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path, PurePath

import numpy as np
import pytest

from account.files import ROOT
from fuzz.scale import scaled

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
WHEEL = "PTOKIT_WHEEL"
PACKAGE = ROOT / "src" / "ptokit"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
whole = pytest.mark.skipif(
    scaled(1) == 1 and WHEEL not in os.environ,
    reason="a wheel takes half a minute: `make dist` and `make test-all` make one",
)


def files() -> set[str]:
    """Every file of the package, as git knows them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/ptokit"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {str(PurePath(line).relative_to("src")) for line in listed.splitlines()}


def test_every_file_is_packaged() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["ptokit"]
    data = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    packaged = {str(path.relative_to(ROOT / "src")) for path in {*data, *PACKAGE.rglob("*.py")}}
    assert files() - packaged == set()
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert {f for f in folders if not (f / "__init__.py").exists()} == set(), "not a package"


def test_the_version_is_said_once() -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['project']['version']}\n" in cited


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `make dist` made, else a new one: of the sdist, as an index has them."""
    if WHEEL in os.environ:
        return Path(os.environ[WHEEL])
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@whole
def test_no_file_is_missing(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert files() - set(archive.namelist()) == set()
        licences = [name for name in archive.namelist() if "/licenses/" in name]
    assert {PurePath(name).name for name in licences} == {"LICENSE", "NOTICE"}


def interpreter(version: str) -> str | None:
    """An interpreter of that version that starts: managers of versions leave empty shells."""
    found = shutil.which(f"python{version}")
    starts = found and subprocess.run([found, "-c", ""], check=False, capture_output=True)
    return found if starts and not starts.returncode else None


@whole
@pytest.mark.parametrize("version", PYTHONS)
def test_it_runs_in_an_empty_environment(version: str, wheel: Path, tmp_path: Path) -> None:
    """The commands of the demo, far from the tree; nothing of this environment is there."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no python{version} on this machine")
    alone = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}

    def run(*words: str | Path) -> str:
        done = subprocess.run(words, cwd=tmp_path, env=alone, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(python, "-m", "venv", tmp_path / "venv")
    binaries = tmp_path / "venv" / "bin"
    run(binaries / "python", "-m", "pip", "install", "--quiet", wheel)
    shutil.copy(ROOT / "examples" / "gemm.pto", tmp_path)
    random = np.random.default_rng(7)
    a, b = (random.standard_normal(s).astype(np.float16) for s in ((512, 384), (384, 320)))
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    for target in ("a2a3", "a5"):
        arrays = ("a=a.npy", "b=b.npy", "-o", "c=c.npy")
        run(binaries / "ptokit", "run", "gemm.pto", "--target", target, *arrays)
        exact = a.astype(np.float32) @ b.astype(np.float32)
        assert np.abs(np.load(tmp_path / "c.npy") - exact).max() < 1e-3
    assert "legal" in run(binaries / "ptokit", "check", "gemm.pto")
    assert "TEXTRACT" in run(binaries / "ptokit", "explain", "textract").upper()
    run(binaries / "ptokit", "convert", "gemm.pto", "--to", "cpp")
    shown = run(binaries / "python", "-c", "import ptokit; print(ptokit.__version__)")
    assert shown.strip() == PROJECT["project"]["version"]
