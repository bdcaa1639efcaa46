"""Faults put into copies of the package, one at a time: which tests notice each?

    python tests/mutation/faults.py KIND [FIRST [LAST]]

KIND is `bodies` (of pages), `rules` (of pages) or `analyses`. The faults of a kind are numbered;
the same sources give the same faults. A line is printed for each: the test that failed, or
"survives". PTOKIT_TESTS names another folder of tests, such as that of an older checkout.
"""

from __future__ import annotations

import ast
import copy
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[2]
TESTS = Path(os.environ.get("PTOKIT_TESTS", ROOT / "tests"))
COUNTS = {"bodies": 40, "rules": 40, "analyses": 20}
# The folders of tests that may notice a fault of a kind, those that most often do first.
NOTICED = {
    "bodies": ("oracles", "isa", "laws", "seeds", "native", "pto", "numerics"),
    "rules": ("laws", "isa", "seeds", "analysis", "text", "errors", "pto"),
    "analyses": ("analysis", "passes", "pipes", "laws", "native", "text", "pto", "cli"),
}
PAGES, ANALYSES = "src/ptokit/isa/pages", "src/ptokit/analysis"
COPIED = ("src", "examples", "docs", "account", "README.md", "pyproject.toml", "Makefile")
LIMIT = 1800  # seconds for the tests of one fault: one that hangs is noticed, too

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
CALLED = {"minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any", "min": "max"}


@dataclass(frozen=True)
class Fault:
    """One node of a file, the `ordinal`-th that can be changed, and where it is."""

    path: str
    ordinal: int
    line: int
    within: str  # the class or function it stands in


def changed(node: ast.AST) -> bool:
    """Make another program of `node`, in place; False where there is no fault for such a node."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            node.ops = [COMPARED[type(op)]()]
        case ast.BinOp(op=op) if type(op) in COMPUTED:
            node.op = COMPUTED[type(op)]()
        case ast.BoolOp(op=ast.And()):
            node.op = ast.Or()
        case ast.BoolOp(op=ast.Or()):
            node.op = ast.And()
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            node.value = value + 1
        case ast.IfExp() | ast.If():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.Call(func=ast.Attribute(attr="isin"), args=[_, _, *_]):
            node.args.pop()
        case ast.Call(func=ast.Attribute(attr=name)) if name in CALLED:
            node.func.attr = CALLED[name]  # type: ignore[attr-defined] # the pattern says it
        case _:
            return False
    return True


def is_body(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "run"


def is_rule(node: ast.AST) -> bool:
    """Say whether a node makes rules: a function that returns them, or a value of a class."""
    if isinstance(node, ast.FunctionDef):
        return node.returns is not None and "Rule" in ast.unparse(node.returns)
    return isinstance(node, ast.Assign)


def is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef)


KINDS = {"bodies": (PAGES, is_body), "rules": (PAGES, is_rule), "analyses": (ANALYSES, is_function)}


def places(kind: str, tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Nodes of a file that a fault of `kind` may change, each once, and where they stand."""
    chosen = KINDS[kind][1]
    for holder in ast.walk(tree):
        if isinstance(holder, (ast.Module, ast.ClassDef)):
            for child in holder.body:
                if chosen(child):
                    name = getattr(holder, "name", "") or getattr(child, "name", "")
                    hints = hints_of(child)
                    yield from ((n, name) for n in ast.walk(child) if id(n) not in hints)


def hints_of(node: ast.AST) -> set[int]:
    """The identities of all nodes inside annotations, which mean nothing to a run."""
    found = set[int]()
    for inner in ast.walk(node):
        for hint in (getattr(inner, "annotation", None), getattr(inner, "returns", None)):
            if hint is not None:
                found |= {id(part) for part in ast.walk(hint)}
    return found


def faults(kind: str) -> list[Fault]:
    """The faults of a kind: from as many files as possible, in an order without a meaning."""
    by_file: list[list[Fault]] = []
    chance = Random(kind)
    for path in sorted((ROOT / KINDS[kind][0]).rglob("*.py")):
        nodes = enumerate(places(kind, ast.parse(path.read_text())))
        short = str(path.relative_to(ROOT))
        found = [
            Fault(short, ordinal, getattr(node, "lineno", 0), within)
            for ordinal, (node, within) in nodes
            if changed(copy.deepcopy(node))
        ]
        by_file.append(chance.sample(found, len(found)))
    chance.shuffle(by_file)
    rounds = range(max(map(len, by_file)))
    dealt = [found[turn] for turn in rounds for found in by_file if turn < len(found)]
    return dealt[: COUNTS[kind]]


def faulty(kind: str, fault: Fault) -> str:
    tree = ast.parse((ROOT / fault.path).read_text())
    for ordinal, (node, _) in enumerate(places(kind, tree)):
        if ordinal == fault.ordinal:
            changed(node)
    return ast.unparse(ast.fix_missing_locations(tree))


def notices(kind: str, fault: Fault) -> str | None:
    """The first test that fails with the fault, "import" or "time"; None where all pass."""
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        tree = Path(name)
        for part in COPIED:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, tree / part)
            else:
                shutil.copy(ROOT / part, tree / part)
        shutil.copytree(TESTS, tree / "tests")
        (tree / fault.path).write_text(faulty(kind, fault))
        first = [] if kind == "analyses" else [["-k", fault.within, "tests/oracles", "tests/laws"]]
        whole = [f"tests/{folder}" for folder in NOTICED[kind]]
        for tests in [*first, whole]:
            if seen := failing(tree, tests, fault.path):
                return seen
    return None


def failing(tree: Path, tests: list[str], path: str) -> str | None:
    """The first failure of some tests of a copy of the tree."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", *tests]
    env = {
        **os.environ,
        "PTOKIT_CHANGED": path,
        "PYTHONPATH": f"{tree / 'src'}",
        "XDG_CACHE_HOME": f"{tree / 'cache'}",
    }
    try:
        done = subprocess.run(
            command, cwd=tree, env=env, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return "time"
    if done.returncode in (0, 5):  # all pass, or `-k` chose none
        return None
    named = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return named[1] if named else "import"


def main(kind: str, first: str = "0", last: str = "") -> None:
    listed = faults(kind)
    chosen = range(int(first), int(last or len(listed)))
    kept = 0
    for number in chosen:
        fault = listed[number]
        seen = notices(kind, fault)
        kept += seen is None
        where = f"{kind} {number} {fault.path}:{fault.line} {fault.within}"
        print(where, seen or "survives", flush=True)
    print(f"{len(chosen) - kept} of {len(chosen)} noticed")


if __name__ == "__main__":
    main(*sys.argv[1:])
