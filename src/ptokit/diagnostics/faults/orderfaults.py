"""Entries about the order of pipes, cores and blocks: races, flags, deadlocks."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

ORDER: dict[str, Entry] = {
    "race": Entry(
        "data race between two cores",
        "Two cores access the same bytes, one of them writes, and no signal, FIFO entry, free slot "
        "or `syncall` orders the accesses: on hardware the result may differ with each run. The "
        "first place is that of the later access; the seed of the schedule repeats the run. "
        "An asynchronous transfer is done by the transfer engine of a core, at any time before the "
        "core waits for its event.",
    ),
    "hazard": Entry(
        "data hazard between two instructions",
        "The pipes of a core run concurrently. Two instructions access the same bytes, one of them "
        "writes, and no flag, event, barrier or buffer release makes the second start after the "
        "first is complete, or one orders them the wrong way round. The result depends on timing. "
        "MTE1, MTE2, MTE3 and FIX, and V on A2/A3, may start an instruction before the previous "
        "one of the same pipe is complete. The help names the missing edge.",
    ),
    "redundant-synchronisation": Entry(
        "redundant synchronisation",
        "Other flags and barriers already order what this one orders. It costs time only: remove "
        "it, with the sets and waits that belong to it. Two that are redundant each may not both "
        "be removed: check again after the first.",
    ),
    "no-sample-run": Entry(
        "none of the sample arguments gives a legal run",
        "To look for hazards ptokit runs the scalar part of a function on sample arguments: 1024 "
        "and smaller numbers for each integer. A function for which none of them is legal, whose "
        "control flow depends on data, or that issues too many instructions even without the "
        "middle of its long loops, needs the arguments of a real run.",
    ),
    "not-synchronised": Entry(
        "the function does not synchronise its pipes",
        "Compilers insert flags and barriers into programs of levels 1 and 2, which have none. To "
        "see the hazards that they have to order, check the function after `ptokit opt`.",
    ),
    "flag-set-twice": Entry(
        "flag may still be set when it is set again",
        "The program sets the flag twice without a wait between. A flag counts its sets on "
        "hardware, up to a number that is not published; the CPU simulator ends with an error.",
    ),
    "flag-clash": Entry(
        "flag is set while an instruction may use it internally",
        "Some instructions are several hardware instructions, ordered by flags with id 0 between "
        "V, S, MTE2 and MTE3. A flag of the program with the same pipes and id that is set "
        "meanwhile is consumed by them. The pairs that each instruction uses are not published: it "
        "may use any. Instructions at which all cores meet use signals 11 to 14, a FIFO with "
        "flag_base that signal and the next.",
    ),
    "flag-left": Entry(
        "flag is set and never waited for",
        "The flag is still set when the kernel ends: the next kernel on the core may consume it.",
    ),
    "exchange-left": Entry(
        "unconsumed signal, FIFO entry or slot",
        "A signal has no wait, a FIFO entry has no pop, or a popped slot is never freed. The "
        "counters of the hardware keep it: the next kernel on the core sees it, and the producer "
        "of a full FIFO stalls.",
    ),
    "unpublished-store": Entry(
        "scalar store may still be in the data cache",
        "Scalar stores to global memory go through a data cache of the core. Another rank that is "
        "signalled may read the memory before the cache writes the line back, and so may a pipe of "
        "the same core that loads from it, for no flag waits for the cache. After the stores, "
        "invalidate the line, which writes it back, then fence global memory, then signal or load. "
        "Where no other rank reads the array, the signal is correct without: in a function that "
        "invalidates lines by address, only the arrays that it invalidates are checked.",
    ),
    "unfenced-store": Entry(
        "store to global memory may arrive after the signal",
        "Tile stores, puts and collectives write global memory on their own pipes; the scalar unit "
        "writes a signal, which may arrive first. A barrier of the pipe waits until the stores are "
        "issued, which is enough for cores of the same rank. For another rank a fence of global "
        "memory is needed, which waits for the pipes too. Assemblers differ: older ones insert the "
        "fence, one refuses text without it, the newest does neither.",
    ),
    "stale-load": Entry(
        "scalar load may read a stale cache line",
        "Scalar loads of global memory go through a data cache of the core, which does not see "
        "the writes of others. After a wait for a signal of another rank, invalidate the line, or "
        "all of global memory, before loading what that rank wrote. Tile loads need no "
        "invalidation.",
    ),
    "acquire-release": Entry(
        "the acquires and releases of a buffer do not pair",
        "On A5 a pipe acquires a buffer, works, and releases it, as with a lock. Releasing a "
        "buffer that the pipe has not acquired lets two pipes in at once. Acquiring it again, or "
        "not releasing it before the kernel ends, makes the next pipe wait forever.",
    ),
    "pipe-deadlock": Entry(
        "deadlock between pipes",
        "Each queue takes its entries in order. The head of every queue that is named waits for a "
        "flag that is never set, or whose set is queued behind a head that waits.",
    ),
    "register-not-set": Entry(
        "register does not hold the value the instruction needs",
        "On A2/A3 and A5 some instructions read what others wrote to registers: in a manual mode "
        "the unroll of a feature map expects the map's size, padding and pad value there. ptokit "
        "compares the registers with the operands. An auto mode needs no registers set.",
    ),
    "event-in-use": Entry(
        "second record of an event without a wait",
        "Each pair of pipes has eight events. A second record without a wait between loses one of "
        "the two: the order in which hardware sees them is undefined.",
    ),
    "deadlock": Entry(
        "deadlock between cores",
        "Every core that has not ended waits: for an entry that is never pushed, for a slot that "
        "is never freed, or for a signal that is never sent. The message names each core with its "
        "line. Push and pop as often on both ends of a FIFO; if both ends wait first, let one end "
        "send first.",
    ),
    "signal-overflow": Entry(
        "signal counter overflow",
        "On A2/A3 a core counts the signals of each number in four bits: at most 15 that it has "
        "not waited for. Nothing slows the sending core down, so one more may be lost, and a core "
        "that waits for it waits forever. Let the receiving core signal back.",
    ),
    "event-not-set": Entry(
        "wait for an event that is not set",
        "A wait consumes one record of the same two pipes and the same id. Without a record before "
        "it, the waiting pipe hangs on hardware.",
    ),
}
