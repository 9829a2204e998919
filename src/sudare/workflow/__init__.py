"""From a recipe to a release that a stranger can check: check, plan, rehearse, publish, verify.

`check` looks at the private data for the steward alone, `plan` says what a recipe would do and cost, `rehearse` does it
on synthetic or public data, `publish` does it once and spends, `verify` checks the result from its public bytes.
Nothing here knows a kind of release: a kind answers the questions of `sudare.recipe.Kind`, and only this folder (and
the collector, for its own survey) touches the ledger.
"""

from typing import TYPE_CHECKING

from sudare.lazy import exports

if TYPE_CHECKING:
    from sudare.workflow.certificate import Verification, verify
    from sudare.workflow.check import Check, check
    from sudare.workflow.job import Job, json_schema
    from sudare.workflow.pages import Drawn, draw_report
    from sudare.workflow.plan import Plan, plan
    from sudare.workflow.publication import Publication, publish
    from sudare.workflow.rehearsal import rehearse

__all__ = [
    "Check",
    "Drawn",
    "Job",
    "Plan",
    "Publication",
    "Verification",
    "check",
    "draw_report",
    "json_schema",
    "plan",
    "publish",
    "rehearse",
    "verify",
]

__getattr__ = exports(
    __name__,
    {
        "certificate": ("Verification", "verify"),
        "check": ("Check", "check"),
        "job": ("Job", "json_schema"),
        "pages": ("Drawn", "draw_report"),
        "plan": ("Plan", "plan"),
        "publication": ("Publication", "publish"),
        "rehearsal": ("rehearse",),
    },
)
