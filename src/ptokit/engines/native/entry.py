"""The entry point of a module: a loop over blocks, which clears shadow memory between them."""

from __future__ import annotations

from collections.abc import Iterable

from ptokit.machine.record.trace import Space
from ptokit.values.host import AnyArray

ARGUMENTS = "ptr %frame, ptr %memories, ptr %scratch, ptr %callback"

ONCE = "noinline optnone"  # code that runs once per block is not optimised
LAUNCH = """define i64 @launch({arguments}, i64 %first, i64 %last) {once} {{
entry:
  br label %next
next:
  %index = phi i64 [ %first, %entry ], [ %after, %good ]
  %more = icmp slt i64 %index, %last
  br i1 %more, label %run, label %end
run:
  %again = icmp sgt i64 %index, %first
  br i1 %again, label %clear, label %begin
clear:
{blocks}
  br label %begin
begin:
  store i64 %index, ptr %frame
  %result = call i32 @block(ptr %frame, ptr %memories, ptr %scratch, ptr %callback)
  %after = add i64 %index, 1
  %bad = icmp ne i32 %result, 0
  br i1 %bad, label %failed, label %good
good:
  br label %next
failed:
  ret i64 %after
end:
  ret i64 0
}}"""


def constant(number: int, table: AnyArray) -> str:
    """Return a table of compile-time numbers as bytes of the module."""
    text = "".join(f"\\{byte:02X}" for byte in table.tobytes())
    return f'@table{number} = internal constant [{table.nbytes} x i8] c"{text}", align 64'


DECLARATIONS = (
    "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    "declare ptr @llvm.launder.invariant.group.p0(ptr)",
    "declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)",
)


def cleared(spaces: Iterable[Space]) -> list[str]:
    """Return code that clears the shadows of memories."""
    lines: list[str] = []
    for space in spaces:
        where = f"%m{space.number}"
        lines += [
            f"  {where}a = getelementptr i64, ptr %memories, i64 {space.number * 3 + 1}",
            f"  {where} = load ptr, ptr {where}a",
            f"  call void @llvm.memset.p0.i64(ptr {where}, i8 0, i64 {space.size}, i1 false)",
        ]
    return lines


def block(body: str, repeats: bool) -> str:
    """Return the function of a block; `repeats`: the body may have loops."""
    how = "" if repeats else ONCE
    head, end = f"define internal i32 @block({ARGUMENTS}) {how} {{", "failed:\n  ret i32 1\n}"
    return "\n".join([head, "entry:", body, end])


def launch(local: Iterable[Space]) -> str:
    """Return the entry; further blocks clear the shadows of the `local` memories."""
    return LAUNCH.format(arguments=ARGUMENTS, once=ONCE, blocks="\n".join(cleared(local)))
