"""The language of a command: of its output, its help, and of what Click itself says.

Click looks its messages up with gettext, so that a catalogue of the domain ``commands`` can translate them; ours holds
beside them the help texts of our commands. Both are found by their English text, as is usual with gettext.
"""

from __future__ import annotations

import copy
import gettext
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import click

from sudare.language.catalogue import LANGUAGES, LOCALE, choose_language, current_language

DOMAIN = "commands"
_OPTION = "--language"
_PIECES = re.compile(r"[!-~]+|.")
_NEVER_FIRST = "、。）："
_TEXT_WIDTH, _OPTION_WIDTH = 76, 50
"""Columns of a help text, and of that of an option."""


def asked_language(arguments: Sequence[str]) -> str:
    """The language after ``--language``, before Click reads the line: it may refuse the line, in that language.

    >>> asked_language(["plan", "--language", "ja", "recipe.toml"]), asked_language(["plan", "--language=en"])
    ('ja', 'en')
    >>> asked_language(["--language", "en", "plan", "--language=ja"]), asked_language(["plan", "recipe.toml"])
    ('ja', '')
    """
    given = list(arguments)[: arguments.index("--")] if "--" in arguments else list(arguments)
    asked = [
        each.removeprefix(f"{_OPTION}=") if each.startswith(f"{_OPTION}=") else after
        for each, after in pairwise([*given, ""])
        if each == _OPTION or each.startswith(f"{_OPTION}=")
    ]
    return next((each for each in reversed(asked) if each in LANGUAGES), "")


@contextmanager
def speaking(arguments: Sequence[str]) -> Iterator[None]:
    """Inside of a ``with`` block, the command of ``arguments`` and Click speak the language that is asked for."""
    with choose_language(asked_language(arguments)):
        before, domain = os.environ.get("LANGUAGE"), gettext.textdomain()
        gettext.bindtextdomain(DOMAIN, LOCALE)
        gettext.textdomain(DOMAIN)
        # The one way to tell gettext's plain functions, which Click calls, of a language.
        os.environ["LANGUAGE"] = current_language().language
        try:
            yield
        finally:
            gettext.textdomain(domain)
            os.environ.pop("LANGUAGE")
            if before is not None:
                os.environ["LANGUAGE"] = before


def translated(command: click.Command) -> click.Command:
    """The command with its help in the current language, and so those in it."""
    if current_language().language == "en":
        return command
    made = copy.copy(command)
    if command.help:
        parts = [gettext.gettext(each) for each in paragraphs(command.help)]
        made.help = "\n\n".join(_folded(each, _TEXT_WIDTH) for each in parts)
        made.short_help = _folded(parts[0], _OPTION_WIDTH)
    made.params = [_translated_parameter(each) for each in command.params]
    if isinstance(made, click.Group):
        made.commands = {name: translated(each) for name, each in made.commands.items()}
    return made


def paragraphs(text: str) -> list[str]:
    """A help text by its paragraphs, each in one line: what a translator gets."""
    return [" ".join(part.split()) for part in text.split("\n\n")]


def _translated_parameter(parameter: click.Parameter) -> click.Parameter:
    if not isinstance(parameter, click.Option) or not parameter.help:
        return parameter
    made = copy.copy(parameter)
    made.help = _folded(gettext.gettext(parameter.help), _OPTION_WIDTH)
    return made


def _folded(text: str, width: int) -> str:
    """In lines of ``width`` columns, if it has letters of two columns, which Click would count as one."""
    from rich.cells import cell_len

    if cell_len(text) == len(text):
        return text
    lines = [""]
    for piece in _PIECES.findall(text):
        if cell_len(lines[-1] + piece) <= width or piece in _NEVER_FIRST:
            lines[-1] += piece
        else:
            lines.append(piece.lstrip())
    return "\n".join(["\b", *lines])
