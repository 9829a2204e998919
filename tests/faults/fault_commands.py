"""The same inputs through the command line: exit code 0, 1 or 2, and one line on standard error."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from fault_changes import CANARIES
from fault_recipes import certificates, house, open_small, place_certificate, recipes
from fault_reports import report_inputs, report_name
from fault_small_files import ledgers, place_ledger
from hypothesis import strategies as st

from sudare.cli import main
from sudare.errors import SudareError


def commands() -> st.SearchStrategy[tuple[str, Any]]:
    """A command, and the input that it gets."""
    inputs = {"verify": certificates(), "ledger": ledgers(), "estimate": report_inputs()}
    inputs |= {"plan": recipes(), "publish": recipes()}
    return st.one_of([st.tuples(st.just(name), drawn) for name, drawn in inputs.items()])


def use_command(given: tuple[str, Any], folder: Path) -> None:
    """Run it here, as the console script would."""
    name, drawn = given
    words = [name]
    if name == "verify":
        place_certificate(drawn, folder)
        words += [str(folder)]
    elif name == "ledger":
        words += ["show", "--dataset", "census", "--ledger", str(place_ledger(drawn, folder))]
    elif name == "estimate":
        path = folder / report_name(drawn[0])
        path.write_bytes(drawn[1])
        words += [str(path)]
    else:
        (folder / "recipe.toml").write_bytes(drawn[0])
        try:
            small = open_small(folder / "recipe.toml")
        except SudareError:
            small = True  # the command shall say so too
        if not small:
            return
        for file in house().glob("*.*"):
            shutil.copy(file, folder)
        words += [str(folder / "recipe.toml"), "--json"]
    done = CliRunner().invoke(main, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, 1, 2), done.output
    said = done.stderr.replace(str(folder), "")
    assert not any(canary in said for canary in CANARIES), said
    if done.exit_code == 1:
        assert said.startswith("Error: "), said
        assert said.count("\n") == 1, said
