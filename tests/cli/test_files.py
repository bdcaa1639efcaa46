"""Files of a user: what is there already, pipes, what a header claims, several writers."""

from __future__ import annotations

import io
import os
import shlex
import stat
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from every import every
from forking import python
from fuzz.scale import sampled
from ptokit.tools.cli import main

PROGRAM = "%y = textract %x[%r, %r] : !pto.tile<...> -> !pto.tile<...>\n"
X = np.arange(32, dtype=np.float32).reshape(2, 16)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.pto").write_text(PROGRAM)
    np.save(tmp_path / "x.npy", X)
    return tmp_path


def run(folder: Path, output: Path | str, x: Path | str | None = None, *more: str) -> Result:
    words = [f"x={x or folder / 'x.npy'}", "r=0", "-o", f"y={output}", *more]
    return CliRunner().invoke(main, ["run", str(folder / "k.pto"), *words])


def shell(folder: Path, script: str) -> subprocess.CompletedProcess[bytes]:
    """A line of bash in the folder; `ptokit` is the command."""
    command = f'ptokit() {{ {shlex.join(python())} -m ptokit "$@"; }}\n{script}'
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, timeout=60, check=False
    )


def left(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()}


def test_an_output_keeps_the_mode_it_had(folder: Path) -> None:
    y = folder / "y.npy"
    y.write_bytes(b"old")
    y.chmod(0o640)
    assert run(folder, y).exit_code == 0
    assert stat.S_IMODE(y.stat().st_mode) == 0o640
    assert np.array_equal(np.load(y), X)


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives files away")
def test_an_output_keeps_its_owner(folder: Path) -> None:
    y = folder / "y.npy"
    y.write_bytes(b"old")
    os.chown(y, 1234, 4321)
    assert run(folder, y).exit_code == 0
    assert (y.stat().st_uid, y.stat().st_gid) == (1234, 4321)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0, 0o666)])
def test_a_new_output_has_the_mode_the_mask_leaves(folder: Path, mask: int, mode: int) -> None:
    old = os.umask(mask)
    try:
        assert run(folder, folder / "y.npy").exit_code == 0
    finally:
        os.umask(old)
    assert stat.S_IMODE((folder / "y.npy").stat().st_mode) == mode


def test_a_read_only_output_is_not_replaced(folder: Path) -> None:
    y = folder / "y.npy"
    y.write_bytes(b"precious")
    y.chmod(0o444)
    result = run(folder, y)
    assert result.exit_code == 2
    assert "read-only" in result.output
    assert y.read_bytes() == b"precious"
    assert left(folder) == {"k.pto", "x.npy", "y.npy"}


def test_nothing_is_written_through_a_link_beside_the_output(folder: Path) -> None:
    victim = folder / "victim"
    victim.write_bytes(b"precious")
    (folder / ".y.npy.partial").symlink_to(victim)
    assert run(folder, folder / "y.npy").exit_code == 0
    assert victim.read_bytes() == b"precious"


def test_an_output_that_is_a_link_stays_one(folder: Path) -> None:
    (folder / "y.npy").symlink_to(folder / "there.npy")
    for _ in range(2):  # to a file that is not there yet, and to one that is
        assert run(folder, folder / "y.npy").exit_code == 0
        assert (folder / "y.npy").is_symlink()
        assert np.array_equal(np.load(folder / "there.npy"), X)


def test_two_outputs_do_not_share_a_file(folder: Path) -> None:
    (folder / "k.pto").write_text(PROGRAM + PROGRAM.replace("%y", "%z"))
    result = run(folder, folder / "y.npy", None, "-o", f"z={folder / 'y.npy'}")
    assert result.exit_code == 2
    assert "two outputs name this file" in result.output
    assert left(folder) == {"k.pto", "x.npy"}


def test_if_one_output_fails_no_other_changes(folder: Path) -> None:
    (folder / "k.pto").write_text(PROGRAM + PROGRAM.replace("%y", "%z"))
    (folder / "y.npy").write_bytes(b"old")
    result = run(folder, folder / "y.npy", None, "-o", f"z={folder}")
    assert result.exit_code == 2
    assert "Is a directory" in result.output
    assert (folder / "y.npy").read_bytes() == b"old"
    assert left(folder) == {"k.pto", "x.npy", "y.npy"}


def test_writers_of_one_output_all_succeed_and_readers_see_whole_files(folder: Path) -> None:
    from ptokit import f32
    from ptokit.launch.files import write_arrays

    y, problems = folder / "y.npy", list[object]()
    candidates = [np.full((64, 1024), n, np.float32) for n in range(4)]

    def write(array: Any) -> None:
        try:
            for _ in range(50):
                write_arrays([(y, array, f32)])
                found = np.fromfile(y, np.float32, offset=128)  # np.load parses: not in threads
                assert found.size == array.size
                assert (found == found[0]).all()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=write, args=(array,)) for array in candidates]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert left(folder) == {"k.pto", "x.npy", "y.npy"}


PIPES = {
    "to standard output": "ptokit run k.pto x=x.npy r=0 -o y=/dev/stdout | cat > y.npy",
    "the report goes to standard error": "ptokit run k.pto x=x.npy r=0 -o y=/dev/stdout --report"
    " | cat > y.npy",
    "into a redirected file": "{ ptokit run k.pto x=x.npy r=0 -o y=/dev/stdout; } > y.npy",
    "to a descriptor": "ptokit run k.pto x=x.npy r=0 -o y=/dev/fd/1 | cat > y.npy",
    "the program from a process": "ptokit run <(cat k.pto) x=x.npy r=0 -o y=y.npy",
    "the program from standard input": "ptokit run /dev/stdin x=x.npy r=0 -o y=y.npy < k.pto",
    "an input from a process": "ptokit run k.pto x=<(cat x.npy) r=0 -o y=y.npy",
    "an input from standard input": "cat x.npy | ptokit run k.pto x=/dev/stdin r=0 -o y=y.npy",
    "an output to a process": "mkfifo done; ptokit run k.pto x=x.npy r=0"
    " -o y=>(cat > y.npy; echo > done); cat done",
    "a named pipe each way": "mkfifo in out; cat x.npy > in & cat out > y.npy &"
    " ptokit run k.pto x=in r=0 -o y=out; wait",
}


@pytest.mark.parametrize("name", sampled(PIPES, 2))
def test_pipes_carry_programs_inputs_and_outputs(folder: Path, name: str) -> None:
    done = shell(folder, PIPES[name])
    assert done.returncode == 0, done.stderr
    raw = (folder / "y.npy").read_bytes()
    expected = io.BytesIO()
    np.save(expected, X)
    assert raw == expected.getvalue()


def test_a_reader_that_leaves_is_one_message(folder: Path) -> None:
    np.save(folder / "x.npy", np.zeros((128, 256), np.float32))  # more than a pipe holds
    script = "ptokit run k.pto x=x.npy r=0 -o y=/dev/stdout | true; exit ${PIPESTATUS[0]}"
    done = shell(folder, script)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("error[unwritable-file]: cannot write /dev/stdout: ")
    assert len(done.stderr.splitlines()) == 1


WRONG_FILES = {
    "nowhere.npy": "No such file or directory",
    "folder": "Is a directory",
    "k.pto": "not a .npy file",
    "empty.npy": "not a .npy file",
}


@pytest.mark.parametrize("name", WRONG_FILES)
def test_an_input_that_cannot_be_read_says_why(folder: Path, name: str) -> None:
    (folder / "folder").mkdir()
    (folder / "empty.npy").write_bytes(b"")
    result = run(folder, folder / "y.npy", folder / name)
    assert result.exit_code == 2
    assert WRONG_FILES[name] in result.output
    assert not (folder / "y.npy").exists()


@pytest.mark.parametrize(
    ("path", "reason"), [("nowhere.pto", "No such file or directory"), ("", "Is a directory")]
)
@pytest.mark.parametrize("command", ["check", "fmt", "run"])
def test_a_program_that_cannot_be_read_says_why(
    folder: Path, command: str, path: str, reason: str
) -> None:
    result = CliRunner().invoke(main, [command, str(folder / path)])
    assert result.exit_code == 2
    assert reason in result.output


def test_a_program_without_an_end_is_refused() -> None:
    result = CliRunner().invoke(main, ["check", "/dev/zero"])
    assert result.exit_code == 2
    assert "at most 64 MiB" in result.output


def header(shape: str, descr: str = "'<f4'", version: bytes = b"\1\0") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    length = len(text).to_bytes(4 if version > b"\1\0" else 2, "little")
    return b"\x93NUMPY" + version + length + text


CLAIMS = {
    "one element more": header("(2, 17)") + X.tobytes(),
    "a huge shape": header("(1099511627776, 1048576)") + X.tobytes(),
    "deep brackets": header("(" * 5000),
    "a long header": b"\x93NUMPY\2\0\xff\xff\xff\xff{",
    "records": header("(2, 16)", "[('a', '<f4')]") + X.tobytes(),
    "records with long names": header("(2, 16)", "[('é', '<f4')]", b"\3\0") + X.tobytes(),
    "arrays in arrays": header("(2,)", "('<f4', (16,))") + X.tobytes(),
    "text": header("(2, 16)", "'<U1'") + X.tobytes(),
    "objects": header("(2, 16)", "'|O'") + X.tobytes(),
    "cut": header("(2, 16)") + X.tobytes()[:-1],
}


@pytest.mark.parametrize("pipe", [False, True], ids=["file", "pipe"])
@pytest.mark.parametrize("name", CLAIMS)
def test_a_header_is_believed_as_far_as_the_file_goes(folder: Path, name: str, pipe: bool) -> None:
    x = folder / "bad.npy"
    if pipe:
        os.mkfifo(x)
        threading.Thread(target=x.write_bytes, args=(CLAIMS[name],), daemon=True).start()
    else:
        x.write_bytes(CLAIMS[name])
    result = run(folder, folder / "y.npy", x)
    assert result.exit_code == 2, result.output
    assert result.output.startswith(f"error[unreadable-file]: {x}: ")
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_files_of_each_version_and_order_are_read(folder: Path, order: Any, version: Any) -> None:
    with (folder / "x.npy").open("wb") as file:
        np.lib.format.write_array(file, np.asarray(X, order=order), version)
    assert run(folder, folder / "y.npy").exit_code == 0
    assert np.array_equal(np.load(folder / "y.npy"), X)


TAKES_ALL = """\
func.func @k(%x: !pto.ptr<f32>, %n: index) {
  %v = pto.load_scalar %x[%n] : !pto.ptr<f32> -> f32
  pto.store_scalar %v, %x[%n] : !pto.ptr<f32>, f32
  return
}
"""


@every(
    ("words", "seen", "advice"),
    [
        (
            "x=random:f32 n=0",
            "given x=random:f32, and %x has the type",
            "give the extents: x=random:f32:16x32",
        ),
        ("x=zeros:f16:4 n=0", "given x=zeros:f16:4", "remove the element type: x=zeros:4"),
        ("x=zeros:4 n=zeros:4", "given n=zeros:4", "remove what follows: n=zeros"),
        ("x=zeros:4 n=random:f16", "given n=random:f16", "remove what follows: n=random"),
    ],
)
def test_what_is_said_of_an_array_that_is_made(words: str, seen: str, advice: str) -> None:
    found = CliRunner().invoke(main, ["run", "-", *words.split()], input=TAKES_ALL)
    assert found.exit_code == 2
    assert "argument-type" in found.output
    assert seen in found.output
    assert advice in found.output


@pytest.mark.parametrize(
    ("word", "advice"),
    [("x=ones:4", "`zeros`"), ("x=random:4x4xf32", "write both as random:f32:16x32")],
)
def test_what_makes_no_array_says_what_does(word: str, advice: str) -> None:
    found = CliRunner().invoke(main, ["run", "-", word, "n=0"], input=TAKES_ALL)
    assert found.exit_code == 2
    assert advice in found.output
