"""Entries about calls of ptokit: arguments, functions, files, clusters."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

CALLS: dict[str, Entry] = {
    "missing-argument": Entry(
        "missing argument", "`ptokit run` takes each input as NAME=FILE.npy or NAME=NUMBER."
    ),
    "unknown-argument": Entry(
        "unknown argument",
        "Arguments are bound by name, or by position in the order of the function's parameters.",
    ),
    "argument-twice": Entry(
        "argument given twice",
        "Give each argument once: by position, in the order of the function's parameters, or by "
        "name (a=a.npy).",
    ),
    "argument-type": Entry(
        "the array or number does not match the parameter",
        "The element type of an array must be the declared one; its shape must be the valid region "
        "of a tile.",
    ),
    "local-argument": Entry(
        "a tile cannot be an argument of several blocks",
        "Every block of a launch runs on a core with its own memories. Blocks share only global "
        "memory, so tiles cannot be passed in or out of more than one block.",
    ),
    "no-such-function": Entry("no such function", "Name a function of the program with --entry."),
    "no-such-instruction": Entry(
        "no such instruction in the program",
        "`--show-code` takes an instruction of the program, in any of its spellings.",
    ),
    "unreadable-file": Entry(
        "cannot read the file",
        "Check its name and your permissions; an argument is a number or a .npy file of numbers, "
        "as numpy.save writes it.",
    ),
    "cluster": Entry(
        "the cluster cannot run this launch",
        "A launch runs on the workers of a Dask cluster. `dask scheduler` prints the address for "
        "`--scheduler`; `dask worker ADDRESS` starts a worker. dask.distributed comes with "
        "`pip install 'ptokit[cluster]'`. Every worker needs the same version of ptokit. A worker "
        "that dies is replaced by another; after several have died in the same blocks the run "
        "ends.",
    ),
    "unwritable-file": Entry(
        "cannot write the file",
        "No output has changed. Check the folder and your permissions; a file without write "
        "permission is not replaced.",
    ),
}
