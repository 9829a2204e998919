import json

import click
import pytest
from click.testing import CliRunner

from sudare.cli import main
from sudare.cli.ledger import ledger as group
from sudare.errors import LedgerError, ParameterError
from sudare.privacy import Guarantee, Ledger, Unit


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(group, arguments)


@pytest.fixture
def books(run):
    books = Ledger("sudare-ledger.db")
    books.set_cap("census", epsilon=0.3)
    books.spend("census", Guarantee("epsilon-DP", Unit("person"), epsilon=0.1), "release-1")
    books.set_cap("[bold]人口[/bold]", rho=0.5, delta=1e-6)
    return books


def test_show_prints_one_line_per_data_set_when_piped(run, books):
    result = run("show")
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "data set\tcap\tspent\tremaining\treleases\tremarks",
        "census\tepsilon 0.3\tepsilon 0.1\tepsilon 0.2\t1\t",
        "[bold]人口[/bold]\trho 0.5 at delta 0.000001\trho 0\trho 0.5 or epsilon 1\t0\t",
        "of\twhere it comes from\t",
        "census\twhat this bounds\twhat adding or removing one person can change",
        "census\thow it is summed\tthe epsilons are added",
    ]


def test_show_of_one_data_set_adds_its_rows(run, books):
    lines = run("show", "--dataset", "census").output.splitlines()
    assert lines[1].startswith("census\t")
    assert lines[5] == "row\ttime\tkind\twhat\tdata"
    assert [line.split("\t")[0] for line in lines[6:]] == ["1", "2"]
    assert lines[7].endswith("spend\trelease-1: " + books.entries()[1].content["guarantee"]["text"] + "\tnot recorded")


def test_show_draws_a_table_on_a_terminal_and_takes_names_literally(run, books, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    output = run("show").output
    assert "━" in output
    assert "[bold]人口[/bold]" in output
    assert "\t" not in output


def test_show_as_json_is_the_librarys_answer_and_what_waits(run, books):
    assert json.loads(run("show", "--json").output) == {**books.to_json(), "pending": [], "pending_elsewhere": []}
    of_one = json.loads(run("show", "--json", "--dataset", "census").output)
    assert of_one == {**books.to_json("census"), "pending": [], "pending_elsewhere": []}


def test_show_speaks_japanese_when_asked_by_option_or_environment(run, books, monkeypatch):
    books.spend("census", Guarantee("epsilon-LDP", Unit("person"), epsilon=0.05), "release-2")
    books.spend("census", Guarantee("none", Unit("household")), "release-3", accept_no_guarantee=True)
    english = run("show", "--json").output
    options = [["--language", "ja"], ["--dataset", "census", "--language", "ja"]]
    asked = [CliRunner().invoke(main, ["ledger", "show", *each]) for each in options]
    monkeypatch.setenv("SUDARE_LANGUAGE", "ja")
    told = [run("show"), run("show", "--dataset", "census")]
    assert [result.output for result in told] == [result.output for result in asked]
    lines = [line.split("\t") for line in told[1].output.splitlines()]
    assert lines[0] == ["データセット", "上限", "使用済み", "残り", "公表回数", "備考"]
    assert lines[1][:3] == ["census", "ε = 0.3", "ε = 0.25"]
    assert "合算できる保証のない公表が 1 件" in lines[1][5]
    assert "隣接関係が混在" in lines[1][5]
    assert ["行", "日時", "種類", "内容", "データ"] in lines
    assert lines[-3][2:] == ["公表 release-1", "差分プライバシー（ε = 0.1）", "記録なし"]
    for word in ("data set", "cap", "epsilon", "spend", "remaining", "not recorded"):
        assert word not in told[1].output
    assert run("show", "--json").output == english


def test_verify_says_how_much_it_checked(run, books):
    assert run("verify").output == f"The ledger sudare-ledger.db is whole: 3 rows, head {books.head()}.\n"
    head = books.entries()[0].hash
    assert json.loads(run("verify", "--head", head, "--json").output) == {
        "ledger": "sudare-ledger.db",
        "verified": True,
        "rows": 3,
        "head": books.head(),
        "clock_back": [],
    }


def test_set_cap_makes_the_ledger_and_answers_with_the_balance(run, tmp_path):
    result = run("set-cap", "census", "--epsilon", "0.1", "--delta", "1e-6", "--ledger", "new.db")
    assert result.output.startswith("census: cap epsilon 0.1, delta 0.000001; spent epsilon 0; remaining epsilon 0.1")
    assert Ledger.open(tmp_path / "new.db").balance("census").cap.to_json()["epsilon"] == "1/10"
    assert "has a cap already (got 'epsilon 0.1" in str(
        run("set-cap", "census", "--epsilon", "1", "--ledger", "new.db").exception
    )
    result = run("set-cap", "census", "--rho", "1/3", "--delta", "1e-6", "--ledger", "new.db", "--confirm", "--json")
    assert json.loads(result.output)["content"] == {"epsilon": None, "delta": "1/1000000", "rho": "1/3"}


@pytest.mark.parametrize(
    ("arguments", "kind", "sentence"),
    [
        (("show", "--ledger", "none.db"), LedgerError, "there is no ledger at none.db"),
        (("verify", "--ledger", "none.db"), LedgerError, "there is no ledger at none.db"),
        (("show", "--dataset", "cenus"), LedgerError, "Did you mean 'census'?"),
        (("verify", "--head", "abc"), LedgerError, "the head is not in the chain"),
        (("set-cap", "census"), ParameterError, "a cap has either epsilon or rho"),
        (("set-cap", "census", "--epsilon", "much"), ParameterError, "epsilon is not a finite number (got 'much')"),
        (("set-cap", "census", "--epsilon", "-1"), ParameterError, "epsilon is not positive"),
        (("set-cap", "census", "--rho", "1"), ParameterError, "a cap in rho needs a delta above 0"),
    ],
)
def test_a_mistake_is_one_sentence_and_a_failing_exit(run, books, arguments, kind, sentence):
    result = run(*arguments)
    assert result.exit_code != 0
    assert type(result.exception) is kind
    assert sentence in str(result.exception)
    assert "\n" not in str(result.exception)


def test_every_command_has_help_with_an_example_that_parses():
    for name, command in {"ledger": group, **group.commands}.items():
        example = command.help.split("Example: sudare ledger ")[1].split()
        assert example[0] in group.commands, name
        with click.Context(group) as context:
            group.commands[example[0]].make_context(example[0], example[1:], parent=context).close()


def test_an_account_is_set_joined_shown_and_explained(run, books):
    assert run("account", "residents", "--epsilon", "1").output.startswith("residents: cap epsilon 1; spent epsilon 0;")
    joined = run("join", "census", "residents", "--part", "tokyo")
    assert joined.output == "residents: cap epsilon 1; spent epsilon 0.1; remaining epsilon 0.9; releases 1\n"
    lines = run("show").output.splitlines()
    assert "account\tcap\tspent\tremaining\treleases\tremarks" in lines
    assert "residents\tcensus, the part tokyo\tε = 0.1" in lines
    assert any(line.startswith("census\taccount of people residents\tε = 0.1 of ε = 1 spent") for line in lines)
    entry = json.loads(run("join", "人口", "residents", "--units", "3", "--json").output)
    assert entry["content"] == {"account": "residents", "part": None, "units": 3}
    assert json.loads(run("account", "residents", "--epsilon", "2", "--confirm", "--json").output)["kind"] == "account"
