"""C++ text for host compilers: launches and device words go, lines, comments and strings stay."""

from __future__ import annotations

import re

import pytest

from every import every
from ptokit.api.cxx.cpprewriting import blanked, entries, for_cube, is_mixed, rewritten

# a launch, and the call that stands for it
LAUNCHES = {
    "f<<<8, 0, s>>>(a, b);": 'ptokit::launch("f", [&] { f(a, b); }, 8, 0, s);',
    "f<float, (2 > 1), g<3>()><<<n + 1, 0, s>>>();": (
        'ptokit::launch("f<float, (2 > 1), g<3>()>", [&] { f<float, (2 > 1), g<3>()>(); }, '
        "n + 1, 0, s);"
    ),
    "ns::f <T> <<<1>>> (x);": 'ptokit::launch("ns::f <T>", [&] { ns::f <T> (x); }, 1);',
    "MAKE(run, 3)<<<1, 0, 0>>>(x);": (
        'ptokit::launch("MAKE(run, 3)", [&] { MAKE(run, 3)(x); }, 1, 0, 0);'
    ),
    "run_##N##_x<<<1, 0, 0>>>(x);": (
        'ptokit::launch("run_##N##_x", [&] { run_##N##_x(x); }, 1, 0, 0);'
    ),
    'if (x) f<<<b(1, 2), 0, 0>>>(g((int *)(p)), ")>>>");': (
        'if (x) ptokit::launch("f", [&] { f(g((int *)(p)), ")>>>"); }, b(1, 2), 0, 0);'
    ),
}
UNTOUCHED = (
    "// f<<<1, 0, 0>>>(x)\n",
    "/* f<<<1, 0, 0>>>(x)\n */",
    'auto s = "f<<<1, 0, 0>>>(x) [aicore]";',
    'auto s = R"q(f<<<1, 0, 0>>>(x))q";',
    "auto c = '\"'; int million = 1'000'000; auto d = '\\'';",
    "a << b; a >> c; t<u<v>> w;",
)


@every("text", LAUNCHES)
def test_launches_become_calls(text: str) -> None:
    assert rewritten(text) == LAUNCHES[text]


@every("text", UNTOUCHED)
def test_other_text_stays(text: str) -> None:
    assert rewritten(text) == text
    assert len(blanked(text)) == len(text)


LONG = """\
[aicore] void g();  // one
#define LAUNCH(N)  \\
  f<N,             \\
    2><<<1,        \\
         0, s>>>(  \\
      a, b);
asm volatile("MOV %0, SYS_CNT"
             : "+l"(count));
void h() {
  f<1, 2><<<
    1, 0, s>>>(a,
               b);
  last();
}
"""


@pytest.mark.parametrize("twins", [None, {"f": "x::y::"}])
def test_lines_keep_their_numbers(twins: dict[str, str] | None) -> None:
    """In each line of the result stand words of that line of the text."""
    told = rewritten(LONG, twins).splitlines()
    lines = LONG.splitlines()
    assert len(told) == len(lines)
    for number, word in {0: "// one", 8: "void h", 12: "last"}.items():
        assert word in lines[number]
        assert word in told[number]
    assert told[1].endswith("\\")
    assert not re.search(r"<<<|>>>|aicore|asm\b", "\n".join(told))


def test_a_twin_is_launched_from_the_namespaces_that_the_kernel_is_in() -> None:
    text = """
namespace { namespace a::b { inline namespace c {
template <class T> __global__ AICORE void f(T *x) { if (x) { } }
} struct s { void m(); }; } }
__global__ void g(int n);
"""
    assert entries(text) == {"f": "a::b::c::", "g": ""}
    told = rewritten("f<int><<<1, 0, 0>>>(p); q::g<<<2, 0, 0>>>(n);", entries(text))
    assert "[&] { f<int>(p); }, [&] { ::ptokit_cube::a::b::c::f<int>(p); }, 1, 0, 0)" in told
    assert "[&] { q::g(n); }, [&] { ::ptokit_cube::q::g(n); }, 2, 0, 0)" in told


def test_the_text_of_a_cube_has_no_names_of_c() -> None:
    text = 'extern "C" __global__ void f(); extern "C" { void g(); } auto s = "extern \\"C\\"";'
    assert for_cube(text) == text.replace('extern "C"', 'extern "C++"', 2)


@every(
    ("text", "mixed"),
    [
        ("#ifdef __DAV_CUBE__\n#else\n#endif", False),
        ("#if defined(__DAV_VEC__)\n#elif defined(__DAV_CUBE__)\n#endif", True),
        ("#if defined(__DAV_C220_VEC__) || defined(__DAV_C310_CUBE__)\n#endif", True),
        ("// __DAV_VEC__\n#ifdef __DAV_CUBE__\n#endif", False),
    ],
)
def test_a_kernel_is_mixed_where_its_text_asks_for_both_cores(text: str, mixed: bool) -> None:
    assert is_mixed([text]) is mixed
