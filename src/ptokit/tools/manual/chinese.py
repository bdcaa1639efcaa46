"""The manual in Chinese: summaries and titles. What follows a summary is the English page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from ptokit.isa.index import TABLES
from ptokit.isa.lang.instr import Instr
from ptokit.tools.manual.instruction import instruction_page


@cache
def summaries() -> Mapping[str, str]:
    """Return the Chinese summary of each page, by the name of its class."""
    file = TABLES.with_name("summaries_zh.json")
    return json.loads(file.read_text(encoding="utf-8"))


def chinese_summary(page: type[Instr]) -> str:
    """Return the Chinese summary of a page; of a page without one the English summary."""
    return summaries().get(page.__name__, page.summary())


@cache
def titles(of: str) -> Mapping[str, str]:
    """Return the Chinese titles by the English ones, of `sections` of a page or of `chapters`."""
    file = TABLES.with_name("titles_zh.json")
    return json.loads(file.read_text(encoding="utf-8"))[of]


def chinese_page(page: type[Instr]) -> str:
    """Return the manual page under Chinese titles, with both summaries."""
    return instruction_page(page, titles("sections"), chinese_summary(page))
