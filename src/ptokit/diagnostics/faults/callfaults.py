"""Entries of calls of ptokit: arguments, functions, files, clusters."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

CALLS: dict[str, Entry] = {
    "missing-argument": Entry(
        "an argument was not given",
        "`ptokit run` takes each input as NAME=FILE.npy or NAME=NUMBER.",
    ),
    "unknown-argument": Entry(
        "the program has no such argument",
        "Arguments are bound by name, or by position in the order of the function's head.",
    ),
    "argument-twice": Entry(
        "the argument is given twice",
        "Arguments are given by position, in the order of the function's head, or by name "
        "(a=a.npy), each once.",
    ),
    "argument-type": Entry(
        "the array or number does not fit the argument",
        "The element type of an array must be the one the program declares; its shape must be the "
        "valid region of a tile.",
    ),
    "local-argument": Entry(
        "a tile cannot be an argument of several blocks",
        "Every block of a launch runs on a core with memories of its own. Global memory is all "
        "they share, so tiles cannot be passed in or out of more than one block.",
    ),
    "no-such-function": Entry("there is no such function", "Name one with --entry."),
    "no-such-instruction": Entry(
        "the program has no such instruction",
        "`--show-code` takes an instruction of the program, in any of its spellings.",
    ),
    "unreadable-file": Entry(
        "the file cannot be read",
        "Check its name and your permissions; an argument is a number or a .npy file of numbers, "
        "as numpy.save writes it.",
    ),
    "cluster": Entry(
        "the cluster cannot run this",
        "A launch runs on the workers of a Dask cluster: `dask scheduler` says the address for "
        "`--scheduler`, `dask worker ADDRESS` starts a worker. dask.distributed comes with "
        "`pip install 'ptokit[cluster]'`. Every worker needs the same version of ptokit. One that "
        "dies is replaced by another; after several have died of the same blocks the run ends.",
    ),
    "unwritable-file": Entry(
        "the file cannot be written",
        "No output has changed. Check the folder and your permissions; a file without write "
        "permission is not replaced.",
    ),
}
