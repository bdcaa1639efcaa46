"""Data classes: those of the standard library, whose methods are compiled when first called.

The standard library compiles six methods of each class, which takes a millisecond: a fifth of a
short command. A frozen class that inherits from one of these is made by the same decorator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from dataclasses import MISSING, FrozenInstanceError, fields
    from reprlib import recursive_repr

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, slots=False):
        """Make a data class as `dataclasses.dataclass` does."""

        def made(cls):
            cls.__doc__ = cls.__doc__ or cls.__name__
            way = {"slots": slots, "frozen": slots and frozen}  # which adds the state for copies
            cls = dataclasses.dataclass(init=False, repr=False, eq=False, **way)(cls)
            cls.__init__ = _Late(cls, "__init__", _init_frozen if frozen else _init)
            texts = {"__repr__": _repr} if repr else {}
            texts |= {"__eq__": _eq} if eq else {}
            texts |= {"__hash__": _hash} if eq and frozen else {}
            for name, text in texts.items():
                if vars(cls).get(name) is None:
                    setattr(cls, name, _Late(cls, name, text))
            if eq and not frozen and "__hash__" not in vars(cls):
                cls.__hash__ = None
            if frozen:
                cls.__setattr__ = cls.__delattr__ = _refuse
            return cls

        return made if cls is None else made(cls)

    class _Late:
        """A method of a class, which is compiled when it is first looked up."""

        def __init__(self, home, name, text):
            self.home, self.name, self.text = home, name, text

        def __get__(self, instance, owner=None):
            names = {"_set": object.__setattr__, "_none": MISSING}
            exec(self.text(self.home, names), names)
            method = names[self.name]
            method.__qualname__ = f"{self.home.__qualname__}.{self.name}"
            setattr(self.home, self.name, method)
            return method.__get__(instance, owner)

    def _init(cls, names, store="self.{0} = {1}"):
        """Return the text of `__init__`, and add to `names` what the text mentions."""
        takes, body = {False: ["self"], True: []}, []
        for field in fields(cls):
            name, value, default = field.name, field.name, field.default
            if field.default_factory is not MISSING:
                names[f"_make_{name}"], default = field.default_factory, MISSING
                value = f"_make_{name}()"
                if field.init:
                    value += f" if {name} is _none else {name}"
            if field.init:
                names[f"_default_{name}"] = default
                given = value == name and default is MISSING
                takes[field.kw_only].append(name if given else f"{name}=_default_{name}")
            if field.init or value != name:
                body.append(store.format(name, value))
        if hasattr(cls, "__post_init__"):
            body.append("self.__post_init__()")
        words = ", ".join([*takes[False], *(["*", *takes[True]] if takes[True] else [])])
        return "\n    ".join([f"def __init__({words}):", *(body or ["pass"])])

    def _init_frozen(cls, names):
        return _init(cls, names, "_set(self, {0!r}, {1})")

    def _repr(cls, names):
        names["_repr"] = recursive_repr()
        shown = ", ".join(f"{f.name}={{self.{f.name}!r}}" for f in fields(cls) if f.repr)
        text = f"return f'{{self.__class__.__qualname__}}({shown})'"
        return f"@_repr\ndef __repr__(self):\n    {text}"

    def _eq(cls, names):
        one, two = (
            "".join(f"{of}.{f.name}, " for f in fields(cls) if f.compare)
            for of in ("self", "other")
        )
        return (
            "def __eq__(self, other):\n    if other.__class__ is self.__class__:\n"
            f"        return ({one}) == ({two})\n    return NotImplemented"
        )

    def _hash(cls, names):
        kept = (f.name for f in fields(cls) if (f.compare if f.hash is None else f.hash))
        return f"def __hash__(self):\n    return hash(({''.join(f'self.{n}, ' for n in kept)}))"

    def _refuse(self, name, *value):
        verb = "assign to" if value else "delete"
        raise FrozenInstanceError(f"cannot {verb} field {name!r}")
