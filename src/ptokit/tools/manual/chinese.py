"""The manual in Chinese: summaries and titles. What follows a summary is the English page."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from functools import cache

from ptokit.isa.index import TABLES
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

CHAPTERS = {
    "Addresses as numbers": "作为数的地址",
    "Tile allocation, views and addresses": "Tile 的分配、视图与地址",
    "Scalar arithmetic": "标量运算",
    "Asynchronous transfers": "异步传输",
    "Broadcasts": "广播",
    "Caches and fences": "缓存与栅栏",
    "Communication between ranks": "rank 间通信",
    "Control flow": "控制流",
    "Conversion": "类型转换",
    "Synchronisation across cores": "核间同步",
    "Debugging": "调试",
    "Elementwise": "逐元素运算",
    "Reductions": "归约",
    "Set-up of FIFOs between cores": "核间 FIFO 的建立",
    "Blocks": "block",
    "HiFloat4": "HiFloat4",
    "Irregular access": "不规则访问",
    "Layout and rearrangement": "布局与重排",
    "Arrays of the scalar unit": "标量单元的数组",
    "The level below tiles": "Tile 以下的层次",
    "Matrix multiplication": "矩阵乘",
    "Memrefs": "memref",
    "Multi-tiles": "多缓冲 Tile",
    "Partial operations": "部分运算",
    "Pointers and the scalar unit": "指针与标量单元",
    "FIFOs between cores": "核间 FIFO",
    "Quantisation": "量化",
    "Scalar floats": "标量浮点数",
    "Registers": "寄存器",
    "Sections": "分段",
    "Comparison and selection": "比较与选择",
    "Structs of the scalar unit": "标量单元的结构体",
    "Synchronisation": "同步",
    "Memory": "存储",
    "Loads of convolution tiles": "卷积 Tile 的加载",
    "Tile handles": "Tile 句柄",
    "Global memory views": "全局内存视图",
    "Functions": "函数",
    "Passes": "pass",
    "Types": "类型",
    "Element types": "元素类型",
    "Locations": "位置",
    "Layouts": "布局",
    "Values of attributes": "属性的值",
    "Whose verdict": "以谁的判定为准",
    "Targets": "目标",
    "Diagnostics": "诊断",
    "Where sources disagree": "资料不一致之处",
}


@cache
def summaries() -> Mapping[str, str]:
    """Return the Chinese summary of each page, by the name of its class."""
    file = TABLES.with_name("summaries_zh.json")
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
