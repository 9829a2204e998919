"""The gallery of planted breaches itself: every mutant can be planted, names what is there, and a few are tried.

All of them are tried by `make mutants`, which takes most of an hour.
"""

import ast
import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sudare.audit.cases import cases
from sudare.audit.finding import PARTS, Finding, said
from sudare.audit.publications import everyday
from sudare.local import ENCODINGS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def loaded(name):
    """A module beside this one: tests are no package."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


planting = loaded("planting")
run = loaded("run_gallery")
GALLERY = planting.gallery()


@pytest.mark.parametrize("name", GALLERY)
def test_a_mutant_can_be_planted(name):
    """Its text is there exactly once, and what comes of it is Python that differs from what was there."""
    mutant = GALLERY[name]
    planted = mutant.planted()
    sound = mutant.path.read_text(encoding="utf-8")
    assert ast.dump(ast.parse(planted)) != ast.dump(ast.parse(sound))
    compile(planted, mutant.path, "exec")


@pytest.mark.parametrize("name", GALLERY)
def test_a_mutant_says_what_it_is_and_who_is_meant_to_catch_it(name):
    mutant = GALLERY[name]
    assert mutant.breaks.endswith(".")
    assert mutant.leaks.endswith(".")
    assert mutant.tests, "each mutant names a test: the audit may be left out, the suite never is"
    replayed = [
        *(f"replay: {case.name}" for case in cases(quick=True)),
        *(f"replay: reports, {name}" for name in ENCODINGS),
        *(f"replay: publish, {case.name}" for case in everyday()),
    ]
    for case in mutant.audit:
        part = case.partition(": ")[0]
        assert part in PARTS
        assert part != "replay" or any(run.meant(case, name) for name in replayed), case
    for test in mutant.tests:
        path, *function = test.split("::")
        assert (ROOT / path).exists(), test
        if function:
            names = {node.name for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
                     if isinstance(node, ast.FunctionDef)}  # fmt: skip
            assert function[-1].partition("[")[0] in names, test


def test_the_gallery_has_every_room_and_is_large_enough():
    assert len(GALLERY) >= 50
    assert {mutant.room for mutant in GALLERY.values()} == {
        "accounting", "engines", "kinds", "local", "noise", "publish", "tables"
    }  # fmt: skip
    assert sum(bool(mutant.audit) for mutant in GALLERY.values()) >= run.LEAST * len(GALLERY)


def test_the_seven_that_slipped_through_are_in():
    assert len(run.SEVEN) == 7
    assert set(run.SEVEN) <= set(GALLERY)


def test_a_sound_part_passes_as_the_gallery_runs_it(tmp_path, monkeypatch):
    """Of `publish`, whose neighbours have ledgers of their own: this machine must not remember the one before."""
    monkeypatch.setenv("SUDARE_STATE", str(tmp_path / "state"))
    case = "replay: publish, perturbation"
    made = run.audited(None, tmp_path / "mark", (case,), rest=False)
    assert (made.found, made.stopped, len(made.names)) == (None, False, 1)
    assert run.meant(case, made.names[0])
    assert not (tmp_path / "state").exists()


def test_the_rest_of_the_audit_is_run_where_the_named_cases_find_nothing(monkeypatch):
    def findings(name, part, figure):
        yield Finding(part, name, figure != "seen_differs", 1, said("seen_taken"), said("allowed_same"))

    def statement_findings(wanted):
        yield from findings("statements, sums", "behaviour", "seen_taken")

    def replay_findings(wanted):
        for name in ("table, tree", "table, laplace"):
            if wanted("replay", name):
                yield from findings(name, "replay", "seen_differs" if "laplace" in name else "seen_taken")

    monkeypatch.setattr(
        "sudare.audit.run.parts_of",
        lambda _folder, _effort, wanted: (
            ("behaviour", statement_findings(wanted)),
            ("replay", replay_findings(wanted)),
        ),
    )
    alone = run.quick_audit(("replay: table, tree",), False, None)
    assert (alone.found, alone.names) == (None, ["replay: table, tree"])
    both = run.quick_audit(("replay: table, tree",), True, None)
    assert both.names == ["replay: table, tree", "behaviour: statements, sums", "replay: table, laplace"]
    assert both.found.startswith("replay: table, laplace")
    assert not both.named
    assert run.quick_audit(("replay: table, laplace",), True, None).named


def test_an_audit_that_could_not_go_on_is_told_from_one_that_found_something(monkeypatch):
    def broken(*_):
        raise ValueError("shapes")

    monkeypatch.setattr("sudare.audit.run.parts_of", broken)
    made = run.quick_audit((), True, None)
    assert (made.found, made.stopped) == ("after 0 findings: ValueError: shapes", True)
    stopped = run.Caught("one", "noise", made.found, None, None, 1.0, stopped=True)
    assert stopped.told == "audit (stopped)"
    assert "audit, stopped: after 0" in run.shown([stopped])


def test_nothing_is_tried_where_the_sound_audit_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "audited", lambda *_, **__: run.Audited("laws: keys: wrong", False, ["laws: keys"]))
    monkeypatch.setattr(run, "caught", lambda *_, **__: pytest.fail("a mutant was tried"))
    monkeypatch.setattr(sys, "argv", ["run_gallery.py"])
    assert run.main() == 1
    assert capsys.readouterr().out == "the quick audit fails without any mutant: laws: keys: wrong\n"


def test_a_text_that_is_gone_or_there_twice_is_told():
    mutant = GALLERY["half the scale of Laplace noise"]
    for changed in (
        replace(mutant, old="no such text"),
        replace(mutant, old="scale"),
        replace(mutant, function="no_such_function"),
        replace(mutant, new=mutant.old),
    ):
        with pytest.raises(planting.GalleryError, match="the text is gone"):
            changed.planted()
    with pytest.raises(planting.GalleryError, match="no module"):
        replace(mutant, module="sudare.noise.no_such_module").planted()


def test_a_mutant_is_planted_in_processes_that_a_process_starts(tmp_path):
    """As in a command that starts workers; the sound package is what runs where nothing is asked for."""
    ask = (
        "import subprocess, sys\n"
        "ask = 'from sudare.privacy.zcdp import rho_of_pure; print(rho_of_pure(1))'\n"
        "print(subprocess.run([sys.executable, '-c', ask], capture_output=True, text=True, check=True).stdout)"
    )
    sound = run.run([sys.executable, "-c", ask], None, tmp_path / "none")
    name = "pure releases count as epsilon squared over eight"
    planted = run.run([sys.executable, "-c", ask], name, tmp_path / "mark")
    assert (sound.stdout.strip(), planted.stdout.strip()) == ("1/2", "1/8")
    assert (tmp_path / "mark").exists()
    assert not (tmp_path / "none").exists()
    assert planting.VARIABLE not in os.environ


@pytest.mark.parametrize(
    "name",
    ["pure releases count as epsilon squared over eight", "a row edited by hand is believed"],
)
def test_some_mutants_are_caught_by_the_tests_they_name(name):
    found = run.caught(GALLERY[name], audit=False, tests=True)
    assert found.fault is None
    assert found.test is not None
    assert not found.survived


def test_a_mutant_that_nobody_sees_is_told(tmp_path):
    """The same runner, with tests that pass, and with tests that never import what is planted."""
    mutant = GALLERY["half the scale of Laplace noise"]
    quiet, far = tmp_path / "test_quiet.py", tmp_path / "test_far.py"
    quiet.write_text(
        "from sudare.noise import discrete_laplace\n\n\ndef test_nothing():\n    assert discrete_laplace\n"
    )
    far.write_text("def test_nothing():\n    assert True\n")
    unseen = run.caught(replace(mutant, tests=(str(quiet),)), audit=False, tests=True)
    assert (unseen.test, unseen.fault, unseen.survived) == (None, None, True)
    elsewhere = run.caught(replace(mutant, tests=(str(far),)), audit=False, tests=True)
    assert "never import" in elsewhere.fault
    assert elsewhere.survived
    assert "SURVIVED" in run.shown([unseen])


def test_nothing_of_the_gallery_is_in_the_package():
    found = subprocess.run(["grep", "-rl", planting.VARIABLE, str(ROOT / "src")], capture_output=True, check=False)
    assert found.stdout == b""
