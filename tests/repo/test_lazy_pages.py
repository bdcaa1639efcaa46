"""Pages are imported when they are first looked up, and none is ever missed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ptokit.isa import index as pages_index
from ptokit.isa.index import index, lookup, pages, spelling_table


def loaded(code: str) -> set[str]:
    """The files of pages that a fresh process has imported after this code."""
    names = f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", names], capture_output=True, text=True, check=True)
    return {n.rpartition(".")[2] for n in done.stdout.split() if n.startswith("ptokit.isa.pages.")}


def test_one_instruction_imports_its_file() -> None:
    assert "binary" in (found := loaded("import ptokit; ptokit.tadd"))
    assert not found & {"transfers", "matrix", "textract", "allocation"}
    every = loaded("import ptokit; dir(ptokit)")
    assert {"transfers", "matrix", "textract", "allocation"} <= every


def test_lookup_gives_what_the_whole_index_has() -> None:
    lookup.cache_clear()
    assert {name: lookup(name) for name in index()} == index()


@pytest.mark.parametrize("fault", ["no file", "another class", "a name less"])
def test_a_stale_table_lacks_no_page(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = json.loads(json.dumps(spelling_table()))
    name = pages()[-1].mnemonic()
    if fault == "another class":
        table["classes"]["views.py"] = "Gone"
    table["spellings"] = {n: f for n, f in table["spellings"].items() if n != name}
    path = tmp_path / "spellings.json"
    if fault != "no file":
        path.write_text(json.dumps(table), encoding="utf-8")
    monkeypatch.setattr(pages_index, "SPELLINGS", path)
    for known in (lookup, getattr(pages_index, "_files")):  # noqa: B009 - what it remembers
        known.cache_clear()
    try:
        assert pages()[-1] in lookup(name)
        assert lookup("no_such_thing") == ()
    finally:
        for known in (lookup, getattr(pages_index, "_files")):  # noqa: B009
            known.cache_clear()
