"""The studio: a web page on the steward's own machine, over the verbs that exist.

`serve` runs it for one recipe file, which is its only state: each change on a page is a version of that file, and what
is edited elsewhere shows on the page. It plans, rehearses, publishes and verifies by calling `sudare.publish`, and adds
no privacy logic of its own. Everything a page shows can be asked for as JSON under ``/api``.
"""

from sudare.studio.serving import serve

__all__ = ["serve"]
