"""Entries of the order of pipes, cores and blocks: races, flags, deadlocks."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

ORDER: dict[str, Entry] = {
    "race": Entry(
        "two cores touch the same bytes in no order",
        "One of them writes, and no signal, entry or slot of a FIFO, or `syncall` orders "
        "the two: the result may be another one with each run on hardware. The first place is that "
        "of the access that came second; the seed of the schedule gives the same run again. What a "
        "core begins and does not wait for is done by its transfer engine, some time until it "
        "waits for the event.",
    ),
    "hazard": Entry(
        "nothing orders two instructions on the same bytes",
        "The pipes of a core run at once. Two instructions touch the same bytes, one of them "
        "writes, and no flag, event, barrier or release of a buffer lets the second start only "
        "when the first is complete; or one does, but the wrong way round. What comes out depends "
        "on time. Within one pipe, MTE1, MTE2, MTE3 and FIX may begin an entry before the one "
        "before is complete, and so does V on A2/A3: the help says which edge is missing.",
    ),
    "redundant-synchronisation": Entry(
        "without it every order of the pipes stays right",
        "Other flags and barriers already order what this one orders. It costs time only: remove "
        "it, with the sets and waits that belong to it. Two that are redundant each may not both "
        "be removed: look again after the first.",
    ),
    "no-sample-run": Entry(
        "no sample of its arguments is a legal run",
        "To look for hazards ptokit runs the scalar part of a function on numbers of its own: 1024 "
        "and smaller ones for each integer. A function that takes none of them, or computes what "
        "it does from data, is looked at with the arguments of a real run. So is one that issues "
        "too much even where the middle of its long loops is left out.",
    ),
    "not-synchronised": Entry(
        "nothing orders the pipes of the function",
        "Compilers put flags and barriers into programs of levels 1 and 2, which have none. To see "
        "the hazards that they have to order, look at the function after `ptokit opt`.",
    ),
    "flag-set-twice": Entry(
        "the flag may still be up from the set before",
        "The program sets the flag twice without a wait between. A flag counts its sets on "
        "hardware, up to a number that is not published; the CPU simulator ends with an error.",
    ),
    "flag-clash": Entry(
        "the flag is up while an instruction may use it itself",
        "Some instructions are several for the hardware, which they order by flags with id 0, "
        "between V, S, MTE2 and MTE3. A flag of the program with the same pipes and id that is up "
        "meanwhile is taken for theirs. Which pairs each uses is not published: all may be. Cores "
        "that all meet use signals 11 to 14, a FIFO with flag_base that number and the next.",
    ),
    "flag-left": Entry(
        "nobody waits for the flag",
        "The token is left when the kernel ends: the next kernel on the core may take it.",
    ),
    "exchange-left": Entry(
        "what one core hands on, no other one takes",
        "A signal is left that nobody waits for, an entry of a FIFO that nobody pops, or a slot "
        "that was popped and not given back. The counters of the hardware keep it: the next kernel "
        "on the core finds it there, and a full FIFO stops who pushes.",
    ),
    "unpublished-store": Entry(
        "what the scalar unit stored before may not be in memory yet",
        "Scalar stores to global memory go through a data cache of the core. Another rank that is "
        "signalled may read the memory before the cache writes the line back, and so may a pipe of "
        "the same core that loads from it, for no flag waits for the cache. After the stores "
        "the line is invalidated, which writes it back, and a fence of global memory follows; "
        "then comes the signal, or the load. Where no other rank reads the array, no signal is "
        "wrong: a function that invalidates lines by address is asked only for arrays of which it "
        "does.",
    ),
    "unfenced-store": Entry(
        "what was written to global memory before may not be there yet",
        "Tile stores, puts and collectives write global memory on pipes of their own, a signal "
        "is written by the scalar unit: it may arrive first. A barrier of the pipe waits until "
        "the stores are issued, which is enough for cores of the same rank; another rank finds "
        "them only behind a fence of global memory, which waits for the pipes, too. Assemblers "
        "differ: older ones put the fence there, one refuses text without it, the newest does "
        "neither.",
    ),
    "stale-load": Entry(
        "the data cache may hold what was there before the wait",
        "Scalar loads of global memory go through a data cache of the core, which does not see "
        "what others write. Behind a wait for a signal of another rank the line is invalidated, or "
        "all of global memory, before what that rank wrote is loaded. Tile loads need no such "
        "thing.",
    ),
    "acquire-release": Entry(
        "the acquires and releases of a buffer do not pair",
        "On A5 a pipe acquires a buffer, works, and releases it, as with a lock. To release what "
        "the pipe has not acquired lets two pipes in at once; to acquire it again, or not to "
        "release it before the kernel ends, makes the next pipe wait for ever.",
    ),
    "pipe-deadlock": Entry(
        "pipes wait for one another for ever",
        "Each queue takes its entries in order. The head of every queue that is named waits for a "
        "flag that nobody sets, or whose set stands behind a head that waits.",
    ),
    "register-not-set": Entry(
        "a register does not hold what the instruction reads",
        "On A2/A3 and A5 some instructions read what others wrote to registers: in a manual mode "
        "the unroll of a feature map expects the map's size, padding and pad value there. ptokit "
        "compares the registers with the operands. An auto mode needs no registers set.",
    ),
    "event-in-use": Entry(
        "an event is recorded while it is still set",
        "Each pair of pipes has eight events. Recording one that nobody has waited for since it "
        "was recorded last loses one of the two: the order in which hardware sees them is open.",
    ),
    "deadlock": Entry(
        "cores wait for one another for ever",
        "Every core that has not ended waits: for an entry that nobody pushes, for a slot that "
        "nobody frees, or for a signal that nobody sends. The message names each with its line. "
        "Both ends of a FIFO push and pop as often; what both need first, one must give.",
    ),
    "signal-overflow": Entry(
        "more signals of a number than its counter holds",
        "On A2/A3 a core counts the signals of each number in four bits: 15 that it has not waited "
        "for. Nothing makes the core that sends them slower, so one more may be lost, and whoever "
        "waits for it waits for ever. Let the two cores take turns: one signals back.",
    ),
    "event-not-set": Entry(
        "an event is awaited that is not set",
        "A wait consumes one record of the same two pipes and the same id. Without one before it, "
        "the waiting pipe hangs on hardware.",
    ),
}
