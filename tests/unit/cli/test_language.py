"""Commands, their help and Click's own messages speak the language that is asked for."""

import gettext
import json
import os
from importlib import import_module
from pathlib import Path

import click
import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po
from click.testing import CliRunner

from sudare.cli import COMMANDS, main
from sudare.cli.language import asked_language, paragraphs
from sudare.language.catalogue import LOCALE, Words
from sudare.privacy import Ledger

NEVER_SAID = ("_winconsole.py", "shell_completion.py", "_termui_impl.py", "testing.py", "utils.py")
"""Files of Click whose messages no command of ours can meet: editors, completion, consoles, streams."""
NEVER = (
    "deprecated", "DEPRECATED", "DeprecationWarning", "defined twice", "Choice(", "start character", "UUID", "iterable",
    "flag", "colour", "format", "Possible options",
    "Could not determine", "No options defined", "Arguments take", "boolean",
)  # fmt: skip


def translations():
    with (LOCALE / "ja" / "LC_MESSAGES" / "commands.po").open("rb") as file:
        return {
            text: each.string for each in read_po(file) for text in ([each.id] if isinstance(each.id, str) else each.id)
        }


def invoke(*arguments):
    return CliRunner().invoke(main, list(arguments), prog_name="sudare")


def commands(command):
    yield command
    if command is main:
        for name in COMMANDS:
            yield from commands(getattr(import_module(f"sudare.cli.{name}"), name))
    elif isinstance(command, click.Group):
        for each in command.commands.values():
            yield from commands(each)


def test_every_help_text_is_translated():
    known = translations()
    for command in commands(main):
        helps = [parameter.help for parameter in command.params if isinstance(parameter, click.Option)]
        for text in (*paragraphs(command.help), *helps):
            assert known.get(text), text


def test_every_command_can_be_asked_for_a_language():
    for command in commands(main):
        named = [option for parameter in command.params for option in parameter.opts]
        assert isinstance(command, click.Group) or "--language" in named, command.name


def test_what_click_says_is_translated():
    known = translations()
    found = extract_from_dir(
        str(Path(click.__file__).parent), [("**.py", "python")], keywords={"_": None, "ngettext": (1, 2)}
    )
    for file, _, message, *_ in found:
        for text in [message] if isinstance(message, str) else message:
            if file not in NEVER_SAID and text and len(text) > 1 and not any(word in text for word in NEVER):
                assert text in known, (file, text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan", "--colour", "--language", "ja"], "エラー：オプション '--colour' はありません。"),
        (["verify", "--language=ja"], "エラー：引数がありません： 'CERTIFICATE'."),
        (["rehearse", "r.toml", "--seed", "-1", "--language", "ja"], "-1 は範囲 x>=0 の外です。"),
        (["publish", "r.toml", "--resume", "--anew", "--language", "ja"], "同時に指定できません"),
    ],
)
def test_click_refuses_in_the_language_asked_for(arguments, said):
    found = invoke(*arguments)
    assert found.exit_code == 2
    assert said in found.output
    assert "使い方：" in found.output
    assert "Error" not in found.output


def test_an_unknown_command_is_refused_in_the_language_of_the_environment(monkeypatch):
    monkeypatch.setenv("SUDARE_LANGUAGE", "ja")
    assert "エラー：コマンド 'plann' はありません。" in invoke("plann").output


def test_help_is_in_the_language_asked_for():
    found = invoke("--language", "ja", "--help").output
    assert "人に関するデータを、プライバシーを守って公表します。" in found
    assert "RECIPE が何を行い、予算をいくら使うか" in found
    assert "Publish data about people, privately." in invoke("--help").output


def test_nothing_of_a_language_is_left_behind(monkeypatch):
    monkeypatch.setenv("LANGUAGE", "de:fr")
    domain = gettext.textdomain()
    invoke("plan", "--language", "ja", "--help")
    assert os.environ["LANGUAGE"] == "de:fr"
    assert gettext.textdomain() == domain


def test_what_follows_two_dashes_is_no_option():
    assert asked_language(["plan", "--", "--language", "ja"]) == ""
    assert asked_language(["plan", "--language"]) == ""
    assert asked_language(["plan", "--language", "xx"]) == ""


def test_output_speaks_and_json_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Ledger("l.db").set_cap("census", epsilon=1)
    plain = invoke("ledger", "verify", "--ledger", "l.db")
    assert plain.output.startswith("The ledger l.db is whole: 1 row, head ")
    spoken = invoke("ledger", "verify", "--ledger", "l.db", "--language", "ja")
    assert spoken.output.startswith("台帳 l.db に改変はありません（1 行、")
    as_json = [invoke("ledger", "verify", "--ledger", "l.db", "--json", *more) for more in ((), ("--language", "ja"))]
    assert json.loads(as_json[0].output) == json.loads(as_json[1].output)
    assert (
        "census：上限 ε = 2、"
        in invoke(
            "ledger", "set-cap", "census", "--epsilon", "2", "--confirm", "--ledger", "l.db", "--language", "ja"
        ).output
    )


def test_a_card_speaks_the_language_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SUDARE_LANGUAGE", "ja")
    books = Ledger(tmp_path / "l.db")
    books.set_cap("census", epsilon=1)
    assert Words("ja")("ledger.spent") in books.balance("census")._repr_html_()
