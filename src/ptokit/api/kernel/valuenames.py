"""The value forms of instructions, each made on first access.

`valuenames.pyi` lists them for editors and type checkers.
"""

from ptokit.api.kernel.valueforms import listed, value_form


def __getattr__(name: str) -> object:
    """Return the value form called `name`; `__all__` lists them."""
    found = listed() if name == "__all__" else value_form(name)
    if found is None:
        raise AttributeError(f"no instruction gives a value called {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *listed()})
