"""The manual in Chinese: summaries and titles. What follows a summary is the English page."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from functools import cache

from ptokit.isa.index import SPELLINGS
from ptokit.isa.lang.instr import Instr
from ptokit.tools.manual.instruction import heading, sections

TITLES = {
    "NaN and infinity": "NaN 与无穷",
    "Operands": "操作数",
    "Forms": "汇编与 C++ 写法",
    "Legality": "合法性",
    "Pipe": "流水线",
    "Targets": "目标",
    "Rules (on every target where none is named)": "规则(未注明目标者对所有目标有效)",
    "Storage": "存储",
    "Diagnostics": "诊断",
    "Where sources disagree": "资料不一致之处",
    "Example": "示例",
}


@cache
def summaries() -> Mapping[str, str]:
    """Return the Chinese summary of each page, by the name of its class."""
    file = SPELLINGS.with_name("summaries_zh.json")
    return json.loads(file.read_text(encoding="utf-8"))


def chinese_summary(page: type[Instr]) -> str:
    """Return the Chinese summary of a page; of a page without one the English summary."""
    return summaries().get(page.__name__, page.summary())


def chinese_page(page: type[Instr]) -> str:
    """Return the manual page under Chinese titles, with both summaries."""
    lines = [heading(page), "", chinese_summary(page), "", inspect.cleandoc(page.__doc__ or "")]
    for title, body in sections(page):
        lines += ["", TITLES.get(title, title), *body]
    return "\n".join(lines)
