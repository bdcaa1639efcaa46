"""The data files of figures, one for each target with times; `a2a3.toml` explains them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import Target
from ptokit.machine.costs.cost import Origin

FOLDER = Path(__file__).parent
Table: TypeAlias = dict[str, Any]  # Any: values of TOML; each reader checks its tables


@cache
def figures(name: str) -> Table:
    """Return the tables of a file, and inherited tables of another file, marked as estimated.

    Figures of the file override inherited ones.
    """
    tables: dict[str, Table] = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    like = tables.get("like")
    if like is not None:
        others = figures(like["file"])
        for table in like["tables"]:
            tables[table] = _estimated(others[table]) | tables.get(table, {})
    return tables


def is_table(value: object) -> TypeGuard[Table]:
    """Return whether a value of a data file is a table."""
    return isinstance(value, dict)


def _estimated(table: Table) -> Table:
    """Return the table with the origin of the table and of all its rows set to estimated."""
    rows = {k: _estimated(v) if is_table(v) else v for k, v in table.items()}
    return {**rows, "source": Origin.ESTIMATED.value}


def has_figures(target: Target) -> bool:
    """Return whether the target, or one from which it inherits, has a data file of times."""
    return _file(target) is not None


def file_of(target: Target) -> str:
    """Return the name of the target's data file; ValueError if there is none."""
    name = _file(target)
    if name is None:
        known = ", ".join(sorted(p.stem for p in FOLDER.glob("*.toml")))
        raise ValueError(f"no times published for {target}: choose one of {known}")
    return name


@cache
def _file(target: Target) -> str | None:
    if (FOLDER / f"{target.name}.toml").is_file():
        return target.name
    return _file(target.like) if target.like is not None and target.timed else None


def origin(table: Table, row: object = None) -> Origin:
    """Return the origin of a row, or else of its whole table."""
    own = row.get("source") if is_table(row) else None
    return Origin(own or table["source"])


def row_of(table: Table, page: type[Instr]) -> Any:  # Any: a row of a `Table`
    """Return the row of a page, by its class or else its name; None if it has none."""
    return table.get(page.__name__, table.get(page.name))
