"""Object code of LLVM modules, which threads generate at the same time.

llvmlite holds one lock of the process during each call of LLVM. LLVM itself needs none for modules
of different contexts, so the calls that take long are made without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from ctypes import string_at
from importlib import import_module
from threading import Lock, Semaphore, Thread
from typing import Any

llvm: Any = import_module("llvmlite.binding")  # Any: it has no types
# contexts of modules: Python's collector might free a context before its module
_contexts = set[Any]()
LOOPS = "-disable-lsr"  # half of the time; loops are no faster for it


class ParsedModule:
    """A module from LLVM text, with all that a thread needs to generate its object code."""

    def __init__(self, text: str, machine: Any) -> None:  # Any: LLVM's code generator
        """Parse the text. It has vectors already: no vectoriser runs."""
        self.machine = machine
        self.context = llvm.create_context()
        _contexts.add(self.context)
        self.module = llvm.parse_assembly(text, self.context)
        self.module.verify()
        self.module.triple = machine.triple
        self.module.data_layout = str(machine.target_data)
        passes = llvm.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        passes.add_ipsccp_pass()
        passes.add_sroa_pass()
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
        self.passes = [(passes, builder)]
        if "@llvm.coro" in text:  # the pipeline of level 0 lowers coroutines
            builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(0))
            passes = builder.getModulePassManager()
            self.passes.append((passes, builder))
        passes.add_simplify_cfg_pass()  # also of the function that ends a coroutine: a copy

    def object_code(self) -> bytes:
        """Generate the object code, once; any thread may call it."""
        try:
            with _loops.as_they_are():
                for passes, builder in self.passes:
                    _unlocked("RunNewModulePassManager")(passes, self.module, builder)
                with llvm.ffi.OutputString() as problem:
                    emit = _unlocked("TargetMachineEmitToMemory")
                    buffer = emit(self.machine, self.module, 1, problem)
                    assert buffer, str(problem)
        finally:
            self.module.close()
            _contexts.discard(self.context)
        library = llvm.ffi.lib
        start, size = library.LLVMPY_GetBufferStart(buffer), library.LLVMPY_GetBufferSize(buffer)
        made = string_at(start, size)
        library.LLVMPY_DisposeMemoryBuffer(buffer)
        return made


def _unlocked(name: str) -> Callable[..., Any]:  # Any: a pointer
    """Return a function of LLVM without the lock of llvmlite, or with it if that is unknown."""
    wrapper = getattr(llvm.ffi.lib, f"LLVMPY_{name}")
    return getattr(wrapper, "_cfn", wrapper)


class _Loops:
    """LLVM's option that leaves loops as they are. It holds for the process: others need it off."""

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0

    @contextmanager
    def as_they_are(self) -> Generator[None]:
        """Turn the option on while any thread generates code."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        with self.lock:
            before, self.users = self.users, self.users + more
            if not (before and self.users):
                llvm.set_option("ptokit", f"{LOOPS}={'true' if self.users else 'false'}")


_loops = _Loops()


class ObjectFiles:
    """The object code of modules, for which threads work as soon as this object is made."""

    def __init__(self, modules: Iterable[ParsedModule]) -> None:
        """Start a thread for each module before the next one is parsed."""
        self.made: dict[int, bytes] = {}
        self.problem: Exception | None = None
        self.processors = Semaphore(os.cpu_count() or 1)
        self.threads: list[Thread] = []
        for each in enumerate(modules):
            self.threads.append(Thread(target=self._make, args=each, name="ptokit code"))
            self.threads[-1].start()

    def wait(self) -> list[bytes]:
        """Wait for the threads; return the object code of each module, in their order.

        After an interrupt the threads go on, and a later call waits for them again.
        """
        for thread in self.threads:
            thread.join()
        if self.problem is not None:
            raise self.problem
        return [self.made[number] for number in sorted(self.made)]

    def _make(self, number: int, module: ParsedModule) -> None:
        try:
            with self.processors:
                self.made[number] = module.object_code()
        except Exception as problem:  # `wait` raises it
            self.problem = problem
