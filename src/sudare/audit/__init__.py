"""An audit that ships: Sudare looks for breaches in itself, on invented people, wherever it is installed.

`audit` runs five parts. `replay` freezes the noise of a release and runs it again on a neighbour: nothing may differ.
`laws` draws all noise and holds it against its law. `lower_bound` says how far two neighbours can be told apart at
least. Samples are enumerated, and refusals and files are compared. Each part takes any release, so that a method from
outside the package, or one that is broken on purpose, can be put to the same tests.
"""

from sudare.audit.distinguish import FALSE_ALARM, Bound, lower_bound
from sudare.audit.finding import Audit, Finding
from sudare.audit.replaying import Neighbour, Replayed, replay
from sudare.audit.run import audit

__all__ = ["FALSE_ALARM", "Audit", "Bound", "Finding", "Neighbour", "Replayed", "audit", "lower_bound", "replay"]
