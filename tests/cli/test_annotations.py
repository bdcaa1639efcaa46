"""What other tools read of `check`: JSON by its schema, SARIF, annotations of pull requests.

The law is about every program of tests/errors, and the first lines of each: some cannot be read.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from commands import ptokit
from jsonschema import Draft7Validator, Draft202012Validator

from account.files import ROOT
from every import every
from fuzz.scale import sampled

PROGRAMS = sorted((ROOT / "tests" / "errors").glob("*.pto"))
FORMATS = ("json", "sarif", "github")
ANNOTATION = re.compile(r"::(?:error|warning|notice) (?P<properties>[^:]*)::(?P<message>.*)")

# what a log may have: sections of SARIF 2.1.0 (OASIS Standard, errata 01)
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
NUMBER = {"type": "integer", "minimum": 1}
LOCATION = {  # 3.28
    "type": "object",
    "required": ["physicalLocation"],
    "additionalProperties": False,
    "properties": {
        "message": TEXT,
        "physicalLocation": {  # 3.29
            "type": "object",
            "additionalProperties": False,
            "required": ["artifactLocation", "region"],
            "properties": {
                "artifactLocation": {  # 3.4: a valid URI reference
                    "type": "object",
                    "properties": {"uri": {"type": "string", "pattern": r"^[^\s<>\"{}|^`\\]+$"}},
                },
                "region": {  # 3.30
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        name: NUMBER
                        for name in ("startLine", "startColumn", "endLine", "endColumn")
                    },
                },
            },
        },
    },
}
LOG = {  # 3.13
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {  # 3.14
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "tool": {
                        "type": "object",
                        "properties": {"driver": {"type": "object", "required": ["name"]}},
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {
                        "type": "array",
                        "items": {  # 3.27
                            "type": "object",
                            "required": ["message"],
                            "additionalProperties": False,
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": -1},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": TEXT,
                                "locations": {"type": "array", "items": LOCATION},
                                "relatedLocations": {"type": "array", "items": LOCATION},
                                "properties": {"type": "object"},
                            },
                        },
                    },
                },
            },
        },
    },
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Programs that have faults, and some that cannot be read."""
    folder = tmp_path_factory.mktemp("with a space, and %")
    cut: list[Path] = []
    for path in sampled(PROGRAMS, 4):
        cut.append(folder / path.name)
        cut[-1].write_text(path.read_text(encoding="utf-8")[:300], encoding="utf-8")
    return [*sampled(PROGRAMS, 3), *cut]


def told(path: Path, style: str) -> str:
    return ptokit("check", path, "--target", "all", "--format", style).output


def wrong(validator: Any, document: object) -> list[str]:  # Any: of a library without types
    return [error.message for error in validator.iter_errors(document)]


def test_json_is_as_its_schema_says(programs: list[Path]) -> None:
    schema = json.loads((ROOT / "docs" / "check.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    for path in programs:
        assert wrong(Draft202012Validator(schema), json.loads(told(path, "json"))) == []


def published() -> dict[str, Any] | None:  # Any: JSON
    """The schema of OASIS, where PTOKIT_SARIF_SCHEMA names a copy: it is not ours to ship."""
    path = os.environ.get("PTOKIT_SARIF_SCHEMA")
    return None if path is None else json.loads(Path(path).read_text(encoding="utf-8"))


def test_sarif_is_as_the_standard_says(programs: list[Path]) -> None:
    schemas = [Draft7Validator(schema) for schema in (LOG, published()) if schema is not None]
    for path in programs:
        log = json.loads(told(path, "sarif"))
        for schema in schemas:
            assert wrong(schema, log) == []
        (run,) = log["runs"]
        facts = json.loads(told(path, "json"))["diagnostics"]
        assert [r["ruleId"] for r in run["results"]] == [d["slug"] for d in facts]
        for result in run["results"]:
            rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
            assert rule["id"] == result["ruleId"]


def test_annotations_name_file_line_and_message(programs: list[Path]) -> None:
    for path in programs:
        lines = told(path, "github").splitlines()
        facts = json.loads(told(path, "json"))["diagnostics"]
        for line, fact in zip(lines, facts, strict=True):
            found = ANNOTATION.fullmatch(line)
            assert found is not None, line
            words = dict(word.split("=", 1) for word in found["properties"].split(","))
            assert unescaped(words["title"]) == fact["slug"]
            assert unescaped(found["message"]).splitlines()[0] == fact["message"].splitlines()[0]
            if "file" in fact:
                assert Path(unescaped(words["file"])).absolute() == Path(fact["file"])
                assert int(words["line"]) == fact["line"]


def unescaped(text: str) -> str:
    return re.sub("%(0A|0D|25|2C|3A)", lambda found: chr(int(found[1], 16)), text)


@every("style", FORMATS)
def test_a_program_without_faults(style: str) -> None:
    result = ptokit("check", ROOT / "examples" / "gemm.pto", "--format", style)
    assert result.exit_code == 0
    assert "error" not in result.output
