"""A program is as legal in one form as in another: converting it changes no verdict."""

from __future__ import annotations

import pytest

from account.files import ROOT
from fuzz.scale import sampled
from ptokit.api.kernel.loading import loads
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import NOT_ON_TARGET

FORMS = ("ssa", "as", "dps")
STORED = """\
func.func @part(%in: memref<3x64xf32, #pto.address_space<gm>>, \
%out: memref<5x64xf32, #pto.address_space<gm>>) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 5x64xf32, valid=3x64>
  pto.tload ins(%in : memref<3x64xf32, #pto.address_space<gm>>) \
outs(%t : !pto.tile_buf<vec, 5x64xf32, valid=3x64>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 5x64xf32, valid=3x64>) \
outs(%out : memref<5x64xf32, #pto.address_space<gm>>)
  return
}
"""
HALVED = """\
func.func @half() {
  %m = memref.alloc() : memref<1x128xf32, #pto.address_space<bias>>
  %h = memref.subview %m[0, 64] [1, 64] [1, 1] : memref<1x128xf32, #pto.address_space<bias>> to \
memref<1x64xf32, strided<[128, 1], offset: 64>, #pto.address_space<bias>>
  func.call @use(%h) : (memref<1x64xf32, strided<[128, 1], offset: 64>, \
#pto.address_space<bias>>) -> ()
  return
}
func.func private @use(memref<1x64xf32, strided<[128, 1], offset: 64>, #pto.address_space<bias>>)
"""
FILES = sorted([*ROOT.glob("examples/**/*.pto"), *ROOT.glob("tests/pto/*.pto")])
PROGRAMS = {
    "a stored memref": STORED,
    "half of a memref": HALVED,
    **{path.stem: path.read_text(encoding="utf-8") for path in sampled(FILES, 12)},
    **{page.__name__: example_program(page) for page in sampled(pages(), 20)},
}


def errors(program: Program) -> dict[str, set[str]]:
    """Why each target refuses the program; the lack of an instruction stands for all else."""
    found = program.verdicts("all")
    slugs = {v.target: {d.slug for d in v.diagnostics if d.is_error} for v in found}
    return {target: seen & {NOT_ON_TARGET} or seen for target, seen in slugs.items()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_form_changes_a_verdict(name: str) -> None:
    program = loads(PROGRAMS[name])
    before = errors(program)
    for form in FORMS:
        try:
            converted = loads(program.text(form))
        except PtoError as problem:
            if problem.diagnostics[0].slug != "conversion":
                raise
            continue
        assert errors(converted) == before, form
