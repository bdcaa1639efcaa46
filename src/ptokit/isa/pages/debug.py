"""Debugging: numbers that a program prints, and the end of a run on purpose."""

import re

from ptokit.isa.lang.page import *

# a percent sign, or a conversion of printf: flags, width, precision, length, letter
CONVERSION = re.compile(
    r"%%|%(?P<how>[-+ #0]*\d{0,3}(?:\.\d{0,3})?)(?:hh|h|ll|l|j|z|t|L)?(?P<letter>[A-Za-z])"
)
WHOLE, REAL = "diuxXoc", "fFeEgG"


def conversions(text: str) -> list[str]:
    """Return the letters of the conversions in a format; '?' for an invalid one."""
    found = [match["letter"] for match in CONVERSION.finditer(text) if match["letter"]]
    return found + ["?"] * CONVERSION.sub("", text).count("%")


@formula("{0} has one conversion, of the kind of {1.of}")
def printable(format: Value, kind: Value) -> Value:
    """Return whether a format has one conversion, of the number's kind, or none."""
    if not isinstance(format, str) or not isinstance(kind, ScalarType):
        return UNKNOWN
    letters, allowed = conversions(format), REAL if kind.is_float else WHOLE
    return not letters or (len(letters) == 1 and letters[0] in allowed)


class Print(Instr, name="print", uses=(PRINTS,), traits=(BY_SCALAR,), pipe=S):
    """Print a number as C's `printf` does, and start a new line if the format does not.

    A format without a conversion prints its text alone.
    """

    asm = Asm(shape="printed", cpp_text="cce::printf({format_literal}, {scalar});")
    example = """\
%n = arith.constant 3 : i32
pto.print ins("n = %+04d", %n : i32)"""
    verb = "print_number"
    disputes = ("X40",)
    format = Attr(str)
    scalar = In(Scalar, element=True)
    kind = TypeOf(scalar)
    one = "use one conversion: %d, %u or %x for integers, %f for floats"
    rules = named("print-format", printable(format, kind), help=one)

    def run(format, scalar, prints):
        prints.number(format, scalar)


class Trap(Instr, name="trap", uses=(CORE,), traits=(BY_SCALAR,), pipe=S):
    """End the run here: the program found that something is wrong."""

    asm = Asm(cpp_on=CHIPS, cpp_text="trap();")
    example = """\
func.func @example(%n: index) {
  %limit = arith.constant 4 : index
  %large = arith.cmpi sgt, %n, %limit : index
  scf.if %large {
    pto.trap
  }
  return
}"""

    def run(core):
        core.trap()


class Check(Instr, name="assert", traits=(BY_SCALAR,), pipe=S):
    """End the run unless `condition` is 1; `message` is the message of the error."""

    asm = Asm(cpp_on=CHIPS, cpp_text="DEBUG_CHECK({condition}, {message_literal});")
    example = """\
func.func @example(%n: index) {
  %limit = arith.constant 4 : index
  %small = arith.cmpi sle, %n, %limit : index
  pto.assert %small {message = "at most 4 rows"} : i1
  return
}"""
    condition = In(Scalar, scalar="i1")
    message = Attr(str)
    rules = named("trapped", condition == 1, help="the program asserts this condition")

    def run():
        """Do nothing: the page's rule is the assertion."""
