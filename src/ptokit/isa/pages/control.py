"""Control flow: the `scf`, `cf` and `func` dialects, loops, branches, blocks, returns."""

from ptokit.isa.lang.page import *

# The execution of a region: block arguments -> yielded values.
Region = Callable[..., tuple[object, ...]]


class ControlFlow(Protocol):
    """The loops and branches of an engine."""

    def loop(
        self, lower: int, upper: int, step: int, carried: tuple[object, ...], region: Region
    ) -> tuple[object, ...]:
        """Run the region for lower, lower + step, ... below upper; carry the yielded values."""
        ...

    def repeat(
        self, carried: tuple[object, ...], before: Region, after: Region
    ) -> tuple[object, ...]:
        """Run `before`, and while its condition is 1 `after`, then `before` again.

        `before` gives the condition and values, which go to `after`, or are the result; `after`
        gives the next values for `before`.
        """
        ...

    def branch(self, condition: int, regions: tuple[Region, ...]) -> tuple[object, ...]:
        """Run the first region if the condition is 1, else the second, if there is one."""
        ...


LOOP = f"""\
func.func @example(%x: {VEC_F32}, %y: {VEC_F32}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %iterations = arith.constant 4 : index
  %rows = scf.for %i = %zero to %iterations step %one iter_args(%n = %one) -> (index) {{
    %twice = arith.addi %n, %n : index
    scf.yield %twice : index
  }}
  pto.tadd ins(%x, %x : {VEC_F32}, {VEC_F32}) outs(%y : {VEC_F32})
  return
}}"""


HALVED = f"""\
func.func @example(%x: {VEC_F32}, %n: i32) {{
  %two = arith.constant 2 : i32
  %rest = scf.while (%left = %n) : (i32) -> i32 {{
    %more = arith.cmpi sgt, %left, %two : i32
    scf.condition(%more) %left : i32
  }} do {{
  ^bb0(%now: i32):
    %half = arith.divsi %now, %two : i32
    scf.yield %half : i32
  }}
  return
}}"""


class Control(Instr, abstract=True, asm=Asm(dialect="scf"), pipe=S, uses=(REGIONS, FLOW)):
    """An op with regions: `run` receives them as functions."""


class For(Control, routes=((OUTSIDE, 0), (0, 0), (0, OUTSIDE), (OUTSIDE, OUTSIDE))):
    """Run the region for each value from `lower` up to, not including, `upper` by `step`.

    Values named by iter_args pass from one iteration to the next; the last ones are the results.
    """

    asm = Asm(shape="for", cpp_text="for (int64_t {iv} = {lower}; {iv} < {upper}; {iv} += {step})")
    example = LOOP
    lower = In(Index)
    upper = In(Index)
    step = In(Index)
    carried = In(Any_, (), many=True)
    rules = (step > 0,)

    def run(lower, upper, step, carried, regions, flow):
        return flow.loop(lower, upper, step, carried, regions[0])


class While(Control, routes=((OUTSIDE, 0), (0, 1), (1, 0), (0, OUTSIDE))):
    """Run the first region; while its condition is 1 the second, and the first again.

    The first takes the carried values and passes values to the second, which yields the next
    carried values; when the condition is 0, the passed values are the results.
    """

    asm = Asm(shape="while", cpp_text="while (true)")
    example = HALVED
    carried = In(Any_, (), many=True)

    def run(carried, regions, flow):
        return flow.repeat(carried, *regions)


class If(Control, routes=((OUTSIDE, 0), (OUTSIDE, 1), (0, OUTSIDE), (1, OUTSIDE))):
    """Run the first region where `condition` is 1, the second (if any) otherwise."""

    asm = Asm(shape="if", cpp_text="if ({condition})")
    example = f"""\
func.func @example(%x: {VEC_F32}, %y: {VEC_F32}, %n: index) {{
  %limit = arith.constant 4 : index
  %small = arith.cmpi slt, %n, %limit : index
  scf.if %small {{
    pto.tadd ins(%x, %x : {VEC_F32}, {VEC_F32}) outs(%y : {VEC_F32})
  }} else {{
    pto.tmul ins(%x, %x : {VEC_F32}, {VEC_F32}) outs(%y : {VEC_F32})
  }}
  return
}}"""
    condition = In(Scalar, scalar="i1")

    def run(condition, regions, flow):
        return flow.branch(condition, regions)


class IndexSwitch(Control, name="index_switch"):
    """Run the region of the case equal to `flag`, or the last region, the default.

    It becomes a chain of branches with two regions before the program is checked or run.
    """

    asm = Asm(shape="cases", cpp_text="")
    example = f"""\
func.func @example(%x: {VEC_F32}, %n: index) {{
  %one = arith.constant 1 : i32
  %rows = scf.index_switch %n -> i32
  case 2 {{
    pto.tadd ins(%x, %x : {VEC_F32}, {VEC_F32}) outs(%x : {VEC_F32})
    scf.yield %one : i32
  }}
  case -5 {{
    %five = arith.constant 5 : i32
    scf.yield %five : i32
  }}
  default {{
    %two = arith.addi %one, %one : i32
    scf.yield %two : i32
  }}
  return
}}"""
    flag = In(Index)
    cases = Attr(tuple, (), cpp=False)

    def run(regions, flow):
        raise AssertionError("cases were not replaced by branches with two regions")


class ExecuteRegion(Control, name="execute_region", routes=((OUTSIDE, 0), (0, OUTSIDE))):
    """Run the region once; its yielded values are the results. It may have several blocks."""

    asm = Asm(shape="executed", cpp_text="")
    example = f"""\
func.func @example(%x: {VEC_F32}, %n: index) {{
  %limit = arith.constant 4 : index
  %small = arith.cmpi slt, %n, %limit : index
  scf.execute_region {{
    cf.cond_br %small, ^add, ^end
  ^add:
    pto.tadd ins(%x, %x : {VEC_F32}, {VEC_F32}) outs(%x : {VEC_F32})
    cf.br ^end
  ^end:
    scf.yield
  }}
  return
}}"""
    no_inline = Attr(bool, False, cpp=False)

    def run(regions, flow):
        return flow.branch(1, regions)


class Terminator(Instr, abstract=True, traits=(TERMINATOR,), pipe=S):
    """The end of a region; its operands are the values that the region gives."""

    asm = Asm(shape="yield", cpp_text="")
    values = In(Any_, (), many=True)

    def run(values):
        return values


class ScfCondition(Instr, name="condition", traits=(TERMINATOR,), pipe=S):
    """The end of the first region of a `while`: the condition to continue and the passed values."""

    asm = Asm(dialect="scf", shape="condition", cpp_text="if (!{condition}) break;")
    example = HALVED
    condition = In(Scalar, scalar="i1")
    values = In(Any_, (), many=True)

    def run(condition, values):
        return condition, *values


class Yield(Terminator, asm=Asm(dialect="scf"), example=LOOP):
    """Pass values to the next iteration, or out of a branch."""


class Return(Terminator):
    """Leave the function."""

    given = "[return {{{values}}};]"
    asm = Asm(dialect="func", name="return", spellings=("return",), cpp_text=given)
    example = LOOP


SUMMED = f"""\
func.func @example(%x: {VEC_F32}, %n: i32) -> i32 {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero, %zero : i32, i32)
^head(%i: i32, %sum: i32):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^iteration, ^end(%sum : i32)
^iteration:
  pto.tadd ins(%x, %x : {VEC_F32}, {VEC_F32}) outs(%x : {VEC_F32})
  %next = arith.addi %i, %one : i32
  %larger = arith.addi %sum, %i : i32
  cf.br ^head(%next, %larger : i32, i32)
^end(%all: i32):
  return %all : i32
}}"""


CHOSEN = f"""\
func.func @example(%x: {VEC_F32}, %n: i32) {{
  cf.switch %n : i32, [default: ^end, 1: ^add(%n : i32), 2: ^end]
^add(%m: i32):
  pto.tadd ins(%x, %x : {VEC_F32}, {VEC_F32}) outs(%x : {VEC_F32})
  cf.br ^end
^end:
  return
}}"""


class Branch(Instr, abstract=True, traits=(TERMINATOR, BRANCHES), pipe=S):
    """The end of a block; the values are the arguments of its successors, in order."""

    asm = Asm(dialect="cf", shape="branch", cpp_text="")
    example = SUMMED
    values = In(Any_, (), many=True)

    def run():
        raise AssertionError("blocks were not replaced by loops and branches with regions")


class Br(Branch):
    """Continue in another block of the function."""


class CondBr(Branch, name="cond_br"):
    """Continue in the first block if `condition` is 1, else in the second.

    Blocks become loops and branches with regions before the program is checked or run. A loop with
    two entries has no such form and is refused.
    """

    condition = In(Scalar, scalar="i1")
    values = Branch.values


class Switch(Branch):
    """Continue in the block of the case equal to `flag`, or in the first block, the default.

    It becomes a chain of two-way branches before the program is checked or run.
    """

    asm = Asm(shape="switch")
    example = CHOSEN
    flag = In(Scalar, whole=True)
    values = Branch.values
    cases = Attr(tuple, ())


class Assert(Instr, traits=(BY_SCALAR,), pipe=S):
    """End the run unless `condition` is 1; the text is the message of the error."""

    asm = Asm(dialect="cf", shape="asserted", cpp_text="if (!{condition}) trap();", cpp_on=CHIPS)
    example = """\
func.func @example(%n: index) {
  %limit = arith.constant 4 : index
  %small = arith.cmpi sle, %n, %limit : index
  cf.assert %small, "at most 4 rows"
  return
}"""
    condition = In(Scalar, scalar="i1")
    message = Attr(str, cpp=False)
    rules = named("trapped", condition == 1, help="the program asserts this condition")

    def run():
        """Do nothing: the page's rule is the assertion."""


class FuncCall(Instr, name="call", traits=(CALLS,), pipe=S):
    """Run another function of the module on these values; its return values are the results.

    The body replaces the call before the program is checked or run. A tile or a view names the same
    bytes inside. A recursive function is refused.
    """

    called = "[auto {results} = ]{callee}({arguments});"
    asm = Asm(dialect="func", shape="call", spellings=("call",), cpp_text=called)
    example = f"""\
func.func private @doubled(%t: {VEC_F32}, %n: i32) -> i32 {{
  pto.tadd ins(%t, %t : {VEC_F32}, {VEC_F32}) outs(%t : {VEC_F32})
  %more = arith.addi %n, %n : i32
  return %more : i32
}}
func.func @example(%x: {VEC_F32}, %n: i32) {{
  %twice = func.call @doubled(%x, %n) : ({VEC_F32}, i32) -> i32
  %again = func.call @doubled(%x, %twice) : ({VEC_F32}, i32) -> i32
  return
}}"""
    arguments = In(Any_, (), many=True)
    callee = Attr(str)

    def run(callee):
        raise AssertionError(f"the call of {callee} was not replaced by its body")
