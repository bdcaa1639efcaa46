"""The program of a concurrent core as an LLVM coroutine.

The coroutine suspends to wait for a counter, without a call back; `drive` resumes it.
"""

from __future__ import annotations

from ptokit.engines.native.entry import ARGUMENTS
from ptokit.engines.native.frame import FAILED
from ptokit.machine.cache import llvm
from ptokit.machine.record.code import Code

ENDS = "void" if llvm.llvm_version_info[0] >= 22 else "i1"

WORDS = f"""declare token @llvm.coro.id(i32, ptr, ptr, ptr)
declare i64 @llvm.coro.size.i64()
declare ptr @llvm.coro.begin(token, ptr)
declare i8 @llvm.coro.suspend(token, i1)
declare ptr @llvm.coro.free(token, ptr)
declare {ENDS} @llvm.coro.end(ptr, i1, token)
declare ptr @malloc(i64)
declare void @free(ptr)"""

PROGRAM = """define ptr @begin({arguments}) presplitcoroutine {{
entry:
  %id = call token @llvm.coro.id(i32 16, ptr null, ptr null, ptr null)
  %size = call i64 @llvm.coro.size.i64()
  %room = call ptr @malloc(i64 %size)
  %self = call ptr @llvm.coro.begin(token %id, ptr %room)
{body}
ends:
  %result = phi i64 [ 0, %good ], [ 1, %failed ]
  %result.at = getelementptr i64, ptr %frame, i64 {failed}
  store i64 %result, ptr %result.at
  %last = call i8 @llvm.coro.suspend(token none, i1 true)
  switch i8 %last, label %away [ i8 1, label %destroyed ]
good:
  br label %ends
failed:
  br label %ends
destroyed:
  %old = call ptr @llvm.coro.free(token %id, ptr %self)
  call void @free(ptr %old)
  br label %away
away:
  call {ends} @llvm.coro.end(ptr %self, i1 false, token none)
  ret ptr %self
}}

{words}"""


def suspend(code: Code) -> None:
    """Suspend the coroutine until it is scheduled again."""
    answer = code.let("call i8 @llvm.coro.suspend(token none, i1 false)")
    after = code.name("resumed")
    code.do(f"switch i8 {answer}, label %away [ i8 0, label %{after} i8 1, label %destroyed ]")
    code.start(after)


def coroutine(body: str) -> str:
    """Return the entry of a module, which creates the coroutine of one block.

    The body suspends at its start, and branches to the label `good` or `failed` at its end.
    """
    filled = {"arguments": ARGUMENTS, "failed": FAILED, "ends": ENDS, "words": WORDS}
    return PROGRAM.format(body=body, **filled)
