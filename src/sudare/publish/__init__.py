"""From a recipe to a release that a stranger can check: plan, rehearse, publish, verify.

`plan` says what a recipe would do and cost, `rehearse` does it on synthetic or public data, `publish` does it
once and spends, `verify` checks the result from its public bytes. The folder itself can be called:
``sudare.publish("recipe.toml")`` is ``sudare.publish.publish("recipe.toml")``.
"""

import sys
from types import ModuleType
from typing import Any

from sudare.publish.certificate import Verification, verify
from sudare.publish.job import Job
from sudare.publish.kind import Kind, Rehearsal
from sudare.publish.kinds import json_schema
from sudare.publish.pages import Drawn, draw_report
from sudare.publish.plan import Plan, plan
from sudare.publish.recipe import Recipe
from sudare.publish.rehearsal import rehearse
from sudare.publish.run import Publication, publish
from sudare.publish.synthetic import city, synthetic_table, write_city

__all__ = [
    "Drawn",
    "Job",
    "Kind",
    "Plan",
    "Publication",
    "Recipe",
    "Rehearsal",
    "Verification",
    "city",
    "draw_report",
    "json_schema",
    "plan",
    "publish",
    "rehearse",
    "synthetic_table",
    "verify",
    "write_city",
]


class _CallableFolder(ModuleType):
    """The contract has both a function ``sudare.publish`` and a folder of that name: this is both."""

    def __call__(self, *arguments: Any, **options: Any) -> Publication:
        return publish(*arguments, **options)


sys.modules[__name__].__class__ = _CallableFolder
