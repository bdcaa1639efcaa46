"""Pages are imported when they are first looked up, and none is ever missed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ptokit.api.kernel import choices
from ptokit.isa import index as pages_index
from ptokit.isa.index import index, lookup, pages, search_tables, searched, tables
from ptokit.isa.lang.instr import Instr

ROOT = Path(__file__).parents[2]
KERNEL = """
import sys
sys.path.insert(0, "examples/kernels")
import numpy as np
from elementwise import softmax
softmax(np.ones((3, 64), np.float32), np.ones((3, 64), np.float32))
"""


def imported(code: str) -> set[str]:
    """The modules that a fresh process has imported after this code."""
    names = f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"
    command = [sys.executable, "-c", names]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return {*done.stdout.split()}


def loaded(code: str) -> set[str]:
    """The files of pages among them."""
    return files(imported(code))


def files(modules: set[str]) -> set[str]:
    return {n.rpartition(".")[2] for n in modules if n.startswith("ptokit.isa.pages.")}


def test_one_instruction_imports_its_file() -> None:
    assert "binary" in (found := loaded("import ptokit; ptokit.tadd"))
    assert not found & {"transfers", "matrix", "textract", "allocation"}
    every = loaded("import ptokit; dir(ptokit)")
    assert {"transfers", "matrix", "textract", "allocation"} <= every


def test_a_first_call_imports_the_files_of_its_instructions() -> None:
    modules = imported(KERNEL)
    assert {"reduction", "broadcast", "transfers"} <= (found := files(modules))
    assert not found & {"matrix", "textract", "quantisation", "pushpop", "sortedrecords"}
    assert "ml_dtypes" not in modules  # its import takes as long as some calls


def test_searches_give_what_the_whole_index_has() -> None:
    lookup.cache_clear()
    assert {name: lookup(name) for name in index()} == index()
    forms = choices.value_names()
    assert {name: choices.value_pages(name) for name in forms} == forms
    plain = {symbol: forms[name] for symbol, name in choices.operations().items()}
    assert {symbol: choices.operation_pages(symbol) for symbol in plain} == plain


@pytest.mark.parametrize("table", ["values", "shapes"])
def test_a_search_by_a_property_finds_every_page(table: str) -> None:
    def name_of(page: type[Instr]) -> str:
        return page.value_name() if table == "values" else page.asm.shape

    for name in dict.fromkeys(map(name_of, pages())):
        every = [page for page in pages() if name_of(page) == name]
        assert [page for page in searched(table, name) if name_of(page) == name] == every


@pytest.mark.parametrize("fault", ["no file", "another class", "a name less"])
def test_a_stale_table_lacks_no_page(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = json.loads(json.dumps(search_tables()))
    name = pages()[-1].mnemonic()
    if fault == "another class":
        table["classes"]["views.py"] = "Gone"
    table["spellings"] = {n: f for n, f in table["spellings"].items() if n != name}
    path = tmp_path / "searches.json"
    if fault != "no file":
        path.write_text(json.dumps(table), encoding="utf-8")
    monkeypatch.setattr(pages_index, "TABLES", path)
    for known in (lookup, tables):
        known.cache_clear()
    try:
        assert pages()[-1] in lookup(name)
        assert lookup("no_such_thing") == ()
    finally:
        for known in (lookup, tables):
            known.cache_clear()
