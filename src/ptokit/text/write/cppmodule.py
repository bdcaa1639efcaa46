"""C++ source files: the functions of a module in text order, with includes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

from ptokit.diagnostics.callsite import depth
from ptokit.ir.module import Func, Module, Op
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.types import PtrType, ScalarType
from ptokit.text.write.cpp import Printer
from ptokit.text.write.cpplacking import CppWarning, Lack, diagnostics
from ptokit.text.write.cpptypes import identifier, unlike

# headers of the C++ library -> names that need them
LIBRARY = {
    "array": ("std::array",),
    "bit": ("std::bit_cast",),
    "cmath": ("std::", "NAN", "INFINITY"),
    "cstdint": ("",),
    "tuple": ("std::tuple", "std::tie", "std::get"),
    "type_traits": ("std::decay",),
}
FIELD = """
template <int I, int... Rest, class T> auto &field(T &of)
{
  if constexpr (sizeof...(Rest) == 0)
    return std::get<I>(of);
  else
    return field<Rest...>(std::get<I>(of));
}"""


def print_cpp(module: Module) -> str:
    """Return the module as C++ source; warn about calls that the public headers lack.

    If several modules have a function of one name, the later ones are numbered.
    """
    text, lacks = cpp_of(module)
    for one in diagnostics(lacks):
        warnings.warn(one.render(), CppWarning, stacklevel=depth())
    return text


def cpp_of(module: Module) -> tuple[str, list[Lack]]:
    """Return the module as C++ source, and the ops that some public headers lack."""
    names, declared, bodies = _identifiers(module), list[str](), list[str]()
    lacks: list[Lack] = []
    for inner in module.modules():
        called = {part.name: names[part] for part in inner.parts if isinstance(part, Func)}
        entries, reserved = _entries(inner), _reserved(inner)
        for func in _declared(inner):
            declared.append(f"{Printer(func, called, launched=func.name in entries).head()};")
        for func in inner.parts:
            if isinstance(func, Func) and not func.declared:
                launched = func.name in entries
                printer = Printer(func, called, launched=launched, reserved=reserved)
                bodies += ["", *printer.func()]
                lacks += printer.lacks
    bodies = [*FIELD.split("\n"), *bodies] if any("field<" in line for line in bodies) else bodies
    lines = [*_includes(bodies), "using namespace pto;"]
    lines += ["", *dict.fromkeys(declared)] if declared else []
    return "\n".join([*lines, *bodies]) + "\n", lacks


def _includes(lines: Sequence[str]) -> Iterator[str]:
    """Yield the headers that the lines need."""
    text = "\n".join(lines)
    for name, words in LIBRARY.items():
        others = [w for n, some in LIBRARY.items() if n != name for w in some if w]
        rest = text
        for word in others if "std::" in words else ():
            rest = rest.replace(word, "")
        if any(word in rest for word in words):
            yield f"#include <{name}>"
    yield "#include <pto/pto-inst.hpp>"


def _calls(module: Module) -> Iterator[tuple[Func, str]]:
    """Yield the calls of a module: the caller, and the name of the callee."""
    for func in (part for part in module.parts if isinstance(part, Func)):
        for op in func.walk():
            if isinstance(op, Op) and op.calls:
                yield func, str(op.choice)


def _entries(module: Module) -> set[str]:
    """Return the names of the functions that a host launches: marked ones, else uncalled ones.

    A host passes pointers and numbers, so a function with tiles as arguments is never launched.
    """
    own = [f for f in module.parts if isinstance(f, Func) and not f.declared]
    called = {name for _, name in _calls(module)}
    given = GlobalType | PtrType | ScalarType
    free = [f for f in own if f.name not in called and not f.results]
    free = [f for f in free if all(isinstance(arg.type, given) for arg in f.args)]
    return {f.name for f in free if f.launched} or {f.name for f in free}


def _declared(module: Module) -> list[Func]:
    """Return the functions that are called before their definition, or have no body."""
    own = [part for part in module.parts if isinstance(part, Func)]
    place = {func.name: n for n, func in enumerate(own)}
    early = {name for func, name in _calls(module) if place.get(name, -1) >= place[func.name]}
    return [func for func in own if func.declared or func.name in early]


def _identifiers(module: Module) -> dict[Func, str]:
    """Return a unique C++ name for each function, over all modules.

    Functions of one name without a body share a name, with the first function that has a body.
    """
    found: dict[Func, str] = {}
    outside: dict[str, str] = {}  # C++ names of functions without a body
    bodies: set[str] = set()
    for func in sorted(module.funcs, key=lambda f: f.declared):
        base = identifier(func.name)
        if func.declared and func.name in outside:
            found[func] = outside[func.name]
            continue
        found[func] = unlike(base, bodies)
        outside.setdefault(func.name, found[func])
        bodies.add(found[func])
    return found


def _reserved(module: Module) -> dict[tuple[str, str], object]:
    """Return the addresses of FIFO buffers, by function and label."""
    found: dict[tuple[str, str], object] = {}
    for func in (part for part in module.parts if isinstance(part, Func)):
        for op in func.walk():
            if isinstance(op, Op) and op.page.fifo_role is FifoRole.RESERVES:
                found[func.name, str(op.attrs["label"])] = op.attrs.get("base")
    return found
