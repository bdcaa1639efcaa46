"""Where public sources disagree: who says what, what ptokit does, and why.

Data: printed by `explain` and in the documentation. A letter is a subject, with a file of its own.
"""

from ptokit.isa.disputes.c import C
from ptokit.isa.disputes.d import D
from ptokit.isa.disputes.dispute import Dispute as Dispute
from ptokit.isa.disputes.e import E
from ptokit.isa.disputes.v import V
from ptokit.isa.disputes.x import X

DISPUTES = dict(sorted((C | D | E | V | X).items(), key=lambda row: (row[0][0], int(row[0][1:]))))
