"""The studio's pages as HTML, in the language of the reader and without content.

Their scripts ask for the content with the session; without one, a page shows nothing of the workspace.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import cookie_parser

import sudare
from sudare.collector.pages import language_of
from sudare.language.catalogue import LANGUAGES, Words

PAGES = ("data", "protect", "rehearse", "publish", "ledger")
REPORT = "report"
"""The page that leads to the report of a release."""
ADDRESSES = frozenset({"/", *(f"/{name}" for name in (*PAGES, REPORT))})
COOKIE = "sudare_language"


def chosen_language(asked: str | None, cookies: str, accepted: str, default: str | None = None) -> str:
    """The language of a page: asked for, else chosen before, else the command's, else the browser's.

    >>> chosen_language("ja", "", ""), chosen_language(None, "sudare_language=ja", "en"), chosen_language("xx", "", "")
    ('ja', 'ja', 'en')
    """
    if asked in LANGUAGES:
        return str(asked)
    kept = cookie_parser(cookies).get(COOKIE)
    if kept in LANGUAGES:
        return str(kept)
    return default if default in LANGUAGES else language_of(None, accepted)


def page(name: str, language: str) -> str:
    """One of `PAGES`, or `REPORT`."""
    template = environment().get_template(f"{name}.html")
    return template.render(
        page=name,
        pages=PAGES,
        words=Words(language),
        language=language,
        languages=LANGUAGES,
        asset=asset,
        concentration_picture=concentration_picture,
    )


@cache
def concentration_picture(concentration: str) -> Markup:
    """How unevenly people live, drawn by ourselves: nothing in it needs to be escaped."""
    from sudare.studio.drawings import concentration_svg

    return Markup(concentration_svg(concentration))  # noqa: S704 - see above


def asset(path: str) -> str:
    """The address of a static file; a new version of the package has new ones.

    >>> asset("studio.css").partition("?")[0]
    '/static/studio.css'
    """
    return f"/static/{path}?v={sudare.__version__}"


@cache
def environment() -> Environment:
    """The templates of the studio; a name that is not given is an error."""
    made = Environment(
        loader=FileSystemLoader(str(files("sudare.studio") / "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # A recipe's own order means something: attributes are drawn and listed in it.
    made.policies["json.dumps_kwargs"] = {"sort_keys": False, "ensure_ascii": False}
    return made
