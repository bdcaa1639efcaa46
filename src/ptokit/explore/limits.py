"""Every bound of exploration: what it limits, what it costs, and what the user is told.

A dry run issues some 100,000 instructions a second. A whole run that meets its bound is shortened;
a shortened one ends the sample, and `no-sample-run` is told if no other sample is legal. All other
bounds end a search: nothing is told, and `ptokit run --races` checks the run that matters.
"""

from __future__ import annotations

# instructions of one dry run
MOST_ISSUED = 50_000  # then middle iterations of long loops are skipped
MOST_SHORTENED = 10_000  # of a shortened run, which is tried with each of PERIODS
MOST_GIVEN = 10_000  # on computed trip counts, or with loops longer than TRIP_COUNTS
MOST_CERTAIN = 10_000  # on exact numbers, of cores that exchange something
MOST_TRIED = 4_000  # on small exact numbers
FEW_ISSUED = 2_000  # of a run on arrays; compiled code is faster for longer runs
MOST_VARIED = 500  # on other numbers
MOST_MEMOISED = 60_000  # of all runs of single blocks on other numbers together
# what is left out of a long loop is a multiple of one of these: buffers, flags and slots that its
# iterations take in rotation continue with the same one
PERIODS = (240, 24, 12, 4)
PERIOD = 24  # the only one of a run on other numbers

# trip counts of loops with unknown bounds, and branches
TRIP_COUNTS = (3, 5, 2, 1, 0)
LONG = max(TRIP_COUNTS)  # longer loops are run only if they issue few instructions
COUNTS_OF_BLOCKS = (2, 1, 0)  # two iterations are likely for any bound; the maximum is unknown
LONGEST_ROTATION = 8  # iterations, the longest period that is found
MOST_DIRECTED = 24  # runs towards ops that no other run reaches
MOST_MIXED, STALE = 24, 4  # runs with random branches; so many in sequence without a new one
FEW_GIVEN = 2  # give up if no run on so many computed trip counts is legal
FAR = 4  # iterations between two accesses; larger distances are alike

# arguments
SAMPLES = (1024, 256, 64, 16, 4, 1)  # samples of an integer argument
MIXED = 20  # further random samples of several numbers
COMPARED = 5  # samples, after the first that issues something
FEW_SAMPLES = 9  # three numbers, in all places and with none in the last
LARGE = 1 << 16  # an extent that exceeds every window
LARGEST_SAMPLE = 1 << 30  # bytes of a sample array

# numbers in memory
HELD = (1 << 16, 16, 1, 0)  # extents, or small indices
EXTENTS = (1 << 16, 3000)  # the second: no multiple of usual tile extents
INDICES = (16, 0)
MOST_HELD, FEW_HELD = 120, 24  # runs with different numbers in different arrays; of a launch

# other numbers and blocks: each new run is compared with all before it
LENGTHS = (7, 4)  # values of a number that only decides trip counts
NEARBY = range(8)  # added to a number, or used instead of one
MOST_TOGETHER = 64  # limit for all combinations of small numbers
MOST_BOUNDS, LARGEST_BOUND = 40, 1 << 16  # numbers next to constants of the text
MOST_FAR, MIXTURES = 320, 40  # combinations of a bound and small numbers; random ones
MOST_EXACT, STALE_RUNS = 44, 8  # samples for several cores; so many in sequence that show no more
FEW_BLOCKS, MORE_BLOCKS = 3, 8  # the second: if addresses depend on the block
MOST_WORK = 1_500  # entries of all these blocks
BLOCKS = 3  # compared blocks

# numbers for exact trip counts: a binary search and passes over candidates, without a dry run
MOST_CANDIDATES, MOST_CONSTANTS = 160, 12  # values of one number; constants of the text for these
ROUNDS = 2  # passes over all numbers: a loop may depend on several
MOST_TRUTHS = 2  # arguments that are tried as true and false
MOST_FURTHER, LARGEST_FURTHER = 12, 512  # numbers that may take rarer branches
LARGEST = 1 << 20  # upper end of the binary search
MOST_OPS = 1_000_000  # ops that compute bounds

# small exact numbers for cores that exchange something
COUNTS = (1, 2, 5, 9)  # odd, even, and more than FIFOs have slots
SCALES = (1, 16, 64, 256)  # tile extents, for arguments that are array extents
MOST_TRIALS, ENOUGH_TRIALS = 24, 5  # runs; those in which cores exchange something
