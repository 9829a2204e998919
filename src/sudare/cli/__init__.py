"""The command line: one file per command, each one library call.

A user's mistake ends in one line on standard error and exit code 1 (2 for a command that was misspelt). So does a
signal that ends a command, with exit code 128 and the signal's number, when all that the command had open is closed.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Sequence
from gettext import gettext
from importlib import import_module
from typing import Any

import click

import sudare
from sudare.cli.console import language_option
from sudare.cli.language import paragraphs, speaking, translated
from sudare.errors import SudareError
from sudare.signals import end_deaf, ending_in_order, heard

COMMANDS = (
    "new",
    "check",
    "plan",
    "rehearse",
    "publish",
    "report",
    "verify",
    "ask",
    "explore",
    "ledger",
    "schema",
    "studio",
    "reconstruct",
    "collect",
    "estimate",
    "compare",
    "reproduce",
    "audit",
    "demo",
)


class Commands(click.Group):
    """Loads a command's file when it is called, so that ``sudare --help`` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click has it
        """In the order a steward meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as click has it
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        return translated(getattr(import_module(f"sudare.cli.{cmd_name}"), cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each command with the whole first sentence of its help."""
        listed = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, each.short_help or paragraphs(each.help or "")[0]) for name, each in listed if each is not None]
        with formatter.section(gettext("Commands")):
            formatter.write_dl(rows)

    def main(self, args: Sequence[str] | None = None, **more: Any) -> Any:  # type: ignore[override]
        """Run what ``args`` say, in the language that they or the environment ask for."""
        gc.set_threshold(50_000)  # what is imported stays: looking through it for garbage costs a fifth of the start
        given = sys.argv[1:] if args is None else list(args)
        with speaking(given):
            return click.Group.main(translated(self), given, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """Turn the package's errors, and a signal that ends the command, into one line."""
        with ending_in_order():
            try:
                return super().invoke(ctx)
            except (SudareError, KeyboardInterrupt) as end:
                end_deaf()
                from sudare.language.catalogue import current_language
                from sudare.language.translation import text

                words, ended = current_language(), heard()
                if isinstance(end, SudareError):
                    said = text(end, words.language)
                else:
                    ended = ended or signal.SIGINT
                    said = words("signal.ended", name=signal.Signals(ended).name)
                # A signal may come in the middle of an import: what is not imported has left nothing.
                if ended is not None and (scratch := sys.modules.get("sudare.engines.scratch")) is not None:
                    scratch.close_rooms()
                if ended is not None:
                    click.echo(said, err=True)
        if ended is None:
            raise click.ClickException(said)
        raise click.exceptions.Exit(128 + ended)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@language_option
@click.version_option(sudare.__version__, prog_name="sudare")
def main() -> None:
    """Publish data about people, privately.

    Example: sudare plan recipe.toml
    """
