"""Values that recorded loops and branches pass on: numbers, and registers of vector functions."""

from __future__ import annotations

from typing import cast

from ptokit.api.kernel.recorded import RecordedRegister
from ptokit.api.kernel.recorder import Recorder
from ptokit.api.kernel.runtimenumbers import Number, RunTimeNumber, is_number
from ptokit.ir.module import Value
from ptokit.isa.model.tiles import RegisterType
from ptokit.isa.model.types import INDEX, ScalarType, Type


def is_register(kind: Type) -> bool:
    return isinstance(kind, RegisterType)


def passes(thing: object) -> bool:
    """Return whether a loop or branch passes such a thing on."""
    return is_number(thing) or isinstance(thing, RecordedRegister)


def value_of(record: Recorder, thing: object, kind: Type) -> Value:
    """Return the value of a number in this type, or of a register."""
    if isinstance(thing, RecordedRegister):
        return thing.value
    return record.number(cast(Number, thing), cast(ScalarType, kind))


def held_by(value: Value, kind: Type) -> RunTimeNumber | RecordedRegister:
    """Return the number or register that a value holds."""
    return (
        RunTimeNumber.of(value, kind) if isinstance(kind, ScalarType) else RecordedRegister(value)
    )


def kind_of(number: object) -> Type:
    if isinstance(number, RecordedRegister):
        return number.value.type
    if isinstance(number, RunTimeNumber):
        return number.kind
    return INDEX if isinstance(number, int) else ScalarType("f32")


def joined(a: object, b: object) -> Type:
    kinds = [kind_of(x) for x in (a, b) if isinstance(x, RunTimeNumber | RecordedRegister)]
    found = kinds or [kind_of(a), kind_of(b)]
    return next((k for k in found if isinstance(k, ScalarType) and k.is_float), found[0])
