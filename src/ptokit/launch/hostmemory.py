"""Host memory: arrays of any library as NumPy arrays, shared if possible."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ptokit.values.host import AnyArray, is_masked, native


def host_array(given: object) -> AnyArray:
    """Return a NumPy array of an array-like or DLPack object, in native byte order.

    Memory is shared if NumPy can share it and the byte order is native. ValueError with the reason
    for masked elements, device memory, and types that NumPy does not have.
    """
    return native(host_memory(given))


def host_memory(given: Any) -> AnyArray:  # Any: what a user has
    """Return `host_array` in the object's own byte order, for outputs written in place."""
    if type(given) is np.ndarray:
        return given
    masked = int(np.count_nonzero(getattr(given, "mask", False))) if is_masked(given) else 0
    if masked:
        raise ValueError(f"{masked} of {given.size} elements are masked: pass x.filled(value)")
    only_dlpack = hasattr(given, "__dlpack__") and not hasattr(given, "__array__")
    try:
        if f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}" == "torch.Tensor":
            given = _torch_memory(given)
        elif only_dlpack:
            given = np.from_dlpack(given)
        return np.asarray(given)
    except Exception as problem:  # whatever another library raises
        raise ValueError(f"cannot make an array of {type(given).__name__}: {problem}") from None


@lru_cache(maxsize=1024)
def shares_bytes(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> bool:
    """Return whether two elements share bytes; strides have the unit of `size`."""
    if 0 in shape:
        return False
    reach = size
    for step, count in sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if n > 1):
        if step < reach:
            break
        reach += step * (count - 1)
    else:
        return False
    places = np.zeros(1, np.int64)
    for step, count in zip(strides, shape, strict=True):
        places = np.add.outer(places, np.arange(count) * step).reshape(-1)
    return bool((np.diff(np.sort(places)) < size).any())


def _torch_memory(given: Any) -> Any:  # Any: a torch tensor; an array
    """Return the memory of a CPU torch tensor; bf16 by its bits."""
    given = given.detach()
    if str(given.dtype) != "torch.bfloat16":
        return given.numpy()
    import ml_dtypes

    bits = given.view(getattr(__import__("torch"), "int16"))  # noqa: B009 - not installed here
    return bits.numpy().view(ml_dtypes.bfloat16)
