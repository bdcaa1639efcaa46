"""From LLVM text to object code."""

from ptokit.engines.native.coroutines import coroutine, suspend
from ptokit.machine.cache import machine_code, this_processor
from ptokit.machine.record.code import Code

MARK = 0x1234_5678_9ABC_DEF1


def test_a_coroutine_has_one_copy_of_its_body() -> None:
    """The function that ends it is made as a second one, in which nothing of it can be reached."""
    code = Code()
    suspend(code)
    code.do(f"store i64 {MARK}, ptr %memories")
    code.do("br label %good")
    made = machine_code(coroutine("\n".join(code.lines)), this_processor())
    assert made.count(MARK.to_bytes(8, "little")) == 1
