"""The generated files of the repository: `make docs` writes them, a test checks they are fresh."""

from __future__ import annotations

import json
from pathlib import Path

from account.grammar import grammar
from account.isa import isa_page
from account.pictures import pictures
from account.seeds import seeds_page
from account.stubs import lane_stub, stub, value_stub
from ptokit.api.cxx.headers import generated_headers
from ptokit.api.kernel.choices import value_tables
from ptokit.isa.index import TABLES, search_tables

ROOT = Path(__file__).parents[1]


def generated() -> dict[Path, str]:
    """Every generated file and its text."""
    return {
        ROOT / "src" / "ptokit" / "api" / "intrinsics.pyi": stub(),
        ROOT / "src" / "ptokit" / "api" / "kernel" / "valuenames.pyi": value_stub(),
        ROOT / "src" / "ptokit" / "api" / "kernel" / "lanenames.pyi": lane_stub(),
        ROOT / "docs" / "seeds.md": seeds_page(),
        ROOT / "docs" / "isa.md": isa_page(),
        **{ROOT / "docs" / name: drawn for name, drawn in pictures().items()},
        **generated_headers(),
        ROOT / "editors" / "vscode" / "syntaxes" / "pto.tmLanguage.json": grammar(),
        TABLES: json.dumps(search_tables() | value_tables(), indent=0) + "\n",
    }


def main() -> None:
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
