"""Processes that begin where Python has started and ptokit is imported: a start costs a second.

`python()` stands for the interpreter in front of `-m MODULE`, `-c CODE` or a file. It is a small
process that hands its streams, folder and environment to a server; the server forks a process for
them, and the small one passes signals on and ends as that does. `sys.executable` stays where the
start, or a thread beside it, is what is tested.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fcntl import F_DUPFD_CLOEXEC, fcntl
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import IO, cast

CLIENT = """\
import _socket, array, json, os, signal, sys
line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
line.connect(sys.argv[1])
given = [int(name) for name in os.listdir("/dev/fd")]
given = [n for n in given if os.path.exists(f"/dev/fd/{n}") and os.get_inheritable(n)]
said = json.dumps([sys.argv[2:], given, os.getcwd(), dict(os.environ)]).encode()
streams = array.array("i", given)
head = len(said).to_bytes(8, "little")
line.sendmsg([head], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
line.sendall(said)
for stream in streams:
    os.close(stream)
pid = int.from_bytes(line.recv(8), "little")
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, frame: os.kill(pid, number))
status = int.from_bytes(line.recv(8), "little", signed=True)
if status < 0:
    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""
COMMON = ("ptokit.tools.cli", "ptokit.api.program", "ptokit.engines.native.compile")
OF_COMMANDS = {"cxx": ("ptokit.api.cxx.cxxkernel", "ptokit.api.cxx.hostprogram")}
# What Python reads when it starts: all processes have it as the server has.
AT_START = ("PYTHONIOENCODING", "PYTHONUTF8", "PYTHONWARNINGS", "LANG", "LC_ALL", "LC_CTYPE")
MOST_STREAMS = 250


@cache
def python() -> tuple[str, ...]:
    """Return the words that stand for the interpreter; start the server that they ask."""
    if not hasattr(os, "pidfd_open"):  # Linux has it
        return (sys.executable,)
    folder = Path(tempfile.mkdtemp(prefix="ptokit-"))
    client, place = folder / "client.py", folder / "place"
    client.write_text(CLIENT)
    command = [sys.executable, __file__, str(place)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/")
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stdout.read(1) == b"."
    server.stdout.close()

    def ended(process: subprocess.Popen[bytes], owner: int) -> None:
        if os.getpid() == owner and process.stdin is not None:
            process.stdin.close()
            process.wait()
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(ended, server, os.getpid())
    return (sys.executable, "-IS", str(client), str(place))


def served(place: str) -> list[str]:
    """Fork a process for each client; in that process, return the words it is to execute."""
    for name in COMMON:
        import_module(name)
    import_module("ptokit.isa.index").pages()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(place)
    listener.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how they end
    os.write(1, b".")
    while True:
        ready, _, _ = select.select([listener, 0], [], [])
        if 0 in ready:  # the tests have ended
            os._exit(0)
        line, _ = listener.accept()
        head, streams, _, _ = socket.recv_fds(line, 8, MOST_STREAMS)
        with line.makefile("rb") as file:
            words, numbers, folder, environment = json.loads(
                file.read(int.from_bytes(head, "little"))
            )
        prepare(words)
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            pid = os.fork()
            if pid == 0:
                line.close()
                become(dict(zip(numbers, streams, strict=True)), folder, environment)
                return words
            watch(line, streams, pid)
        line.close()
        for stream in streams:
            os.close(stream)


def prepare(words: Sequence[str]) -> None:
    """Import what a command needs, once for all processes."""
    if words[:2] == ["-m", "ptokit"] and len(words) > 2:
        files = import_module("ptokit.tools.cli").FILES
        if words[2] in files:
            import_module(f"ptokit.tools.cli.{files[words[2]]}")
        for name in OF_COMMANDS.get(words[2], ()):
            import_module(name)


def watch(line: socket.socket, streams: Sequence[int], pid: int) -> None:
    """Tell a client how its process ends; end the process where the client does."""
    for stream in streams:
        os.close(stream)
    line.sendall(pid.to_bytes(8, "little"))
    end = os.pidfd_open(pid)
    ready, _, _ = select.select([line, end], [], [])
    if end not in ready:
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(OSError):
        line.sendall(status.to_bytes(8, "little", signed=True))
    os._exit(0)


def become(given: Mapping[int, int], folder: str, environment: dict[str, str]) -> None:
    """Take the streams, the folder and the environment of a client."""
    differ = [n for n in AT_START if environment.get(n) != os.environ.get(n)]
    above = {number: fcntl(stream, F_DUPFD_CLOEXEC, 256) for number, stream in given.items()}
    os.closerange(3, 256)
    for number, stream in above.items():
        os.dup2(stream, number)
        os.close(stream)
    streams = [opened(n, old) for n, old in enumerate((sys.stdin, sys.stdout, sys.stderr))]
    sys.stdin, sys.stdout, sys.stderr = streams
    assert not differ, f"a process of its own is needed for other {', '.join(differ)}"
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    added = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[1:1] = [path for path in added if path and path not in sys.path[1:]]


def opened(number: int, old: object) -> TextIOWrapper:
    """Open a stream as Python does when it starts."""
    assert isinstance(old, TextIOWrapper)
    size = 0 if old.write_through else -1
    file = cast("IO[bytes]", os.fdopen(number, "wb" if number else "rb", size, closefd=False))
    made = TextIOWrapper(file, old.encoding, old.errors, write_through=old.write_through)
    made.reconfigure(line_buffering=number == 2 or file.isatty())
    return made


def execute(words: Sequence[str]) -> None:
    """Do what Python does with these words."""
    option, *rest = words
    if option == "-m":
        sys.path[0], sys.argv = os.getcwd(), rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif option == "-c":
        sys.path[0], sys.argv = "", ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.path[0], sys.argv = str(Path(option).resolve().parent), [*words]
        runpy.run_path(option, run_name="__main__")


def status_of(words: Sequence[str]) -> int:
    """Execute the words to the end; return the status, as Python does."""
    try:
        execute(words)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException as problem:
        sys.excepthook(type(problem), problem, problem.__traceback__)
        return 1
    return 0


if __name__ == "__main__":
    ending = status_of(served(sys.argv[1]))
    vars(threading)["_shutdown"]()  # as Python ends; both have no public name
    vars(atexit)["_run_exitfuncs"]()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(ending)  # to take all modules apart would cost as much as the start
