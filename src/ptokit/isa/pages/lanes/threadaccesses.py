"""Single elements of memory that threads load, store and change."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.lanefamilies import Below
from ptokit.isa.pages.lanes.rows import one_of
from ptokit.isa.pages.lanes.threadqueries import by_threads
from ptokit.isa.pages.pointers import (
    inside,
    load_behind,
    load_of_row,
    of_row,
    store_behind,
    store_of_row,
)

CACHED = (("l1cache", ("l1",)), ("l2cache", ("l2",)))
LOADED = (
    *("nmfv", "nmlv", "nmprs", "nmpref", "nakeep", "naclean", "nadrop", "idsfv", "idslv"),
    *("idsprs", "idspref", "exfv", "exlv", "exprs", "expref"),
)
CHANGED = (
    *("nmfv", "nmlv", "nmprs", "nmred", "naci", "napw", "napi", "nared", "wbhfv", "wbhlv"),
    *("wbhprs", "wbhred", "wtsfv", "wtslv", "wtsprs", "wtsred"),
)
IN_GM = "the clauses of caches are for global memory: use pto.load and pto.store"
LOADING = "%v = pto.ldg %dst[%i] l1cache(cache) l2cache(nmfv) : !pto.ptr<i32> -> i32"
STORING = "pto.stg %tid, %dst[%i] l1cache(uncache) l2cache(wtsred) : !pto.ptr<i32>, i32"
CHANGING = "%old = NAME %dst, %tid l2cache(nmfv) signed : !pto.ptr<i32>, i32 -> i32"


class OneElement(Below, abstract=True, traits=(BY_SCALAR, ONE_ELEMENT)):
    """One element of memory, accessed by a thread."""

    specials = ""


class Ldg(OneElement, name="ldg"):
    """Element `offset` of the array behind `ptr`; the caches do not change what is read."""

    asm = Asm(
        order=("ptr", "offset"),
        brackets=("offset",),
        typed=("ptr",),
        clauses=CACHED,
        clause_types=(),
    )
    result = Result(Scalar)
    ptr = In(Ptr)
    offset = In(Index)
    l1 = Attr(str, None)
    l2 = Attr(str, None)
    kind = TypeOf(result)
    rules = (
        inside(kind, ptr, offset),
        named("location", ptr.space == "gm", help=IN_GM),
        one_of(l1, "cache", "uncache"),
        one_of(l2, *LOADED),
    )
    example = by_threads(LOADING, STORING)

    run = staticmethod(load_behind)


class Stg(OneElement, name="stg"):
    """Element `offset` of the array behind `ptr` becomes `value`, whatever the caches do."""

    asm = Asm(
        order=("value", "ptr", "offset"),
        brackets=("offset",),
        typed=("ptr", "value"),
        clauses=CACHED,
        clause_types=(),
    )
    ptr = Out(Ptr)
    value = In(Scalar, element=True)
    offset = In(Index)
    l1 = Attr(str, None)
    l2 = Attr(str, None)
    kind = TypeOf(value)
    rules = (
        inside(kind, ptr, offset),
        named("location", ptr.space == "gm", help=IN_GM),
        one_of(l1, "cache", "uncache"),
        one_of(l2, *CHANGED),
    )
    example = by_threads(LOADING, STORING)

    run = staticmethod(store_behind)


class OfUbElement(Below, abstract=True, traits=(BY_SCALAR,), form="of a buffer"):
    """One element of the vector buffer, accessed by a thread."""

    specials = ""
    asm = Asm(shape="element", brackets=("offset",))
    example = by_threads(LOADING, STORING)


class LdgOfBuffer(OfUbElement, name="ldg"):
    """Element `offset` of a buffer, in the order of memory."""

    asm = Asm(order=("ptr", "offset"))
    result = Result(Scalar)
    ptr = In(Tile)
    offset = In(Index)
    kind, rows = TypeOf(result), TypeOf(ptr)
    rules = of_row(kind, ptr, offset)

    run = staticmethod(load_of_row)


class StgOfBuffer(OfUbElement, name="stg"):
    """Element `offset` of a buffer, in the order of memory, becomes `value`."""

    asm = Asm(order=("value", "ptr", "offset"))
    ptr = InOut(Tile, buffer=True)
    value = In(Scalar, element=True)
    offset = In(Index)
    kind, rows = TypeOf(value), TypeOf(ptr)
    rules = of_row(kind, ptr, offset)

    run = staticmethod(store_of_row)
