"""Where public sources disagree: who says what, what ptokit does, and why.

Data: printed by `explain` and in the documentation. The numbers are those of the spec's conflict
tables, a file for each letter.
"""

from ptokit.isa.disputes.c import C
from ptokit.isa.disputes.d import D
from ptokit.isa.disputes.dispute import Dispute as Dispute
from ptokit.isa.disputes.e import E
from ptokit.isa.disputes.x import X

DISPUTES = C | D | E | X
