from __future__ import annotations

import json
import re
import sys

import pytest

GOOD = """
import sys
sys.path.insert(0, {folder!r})
from part import run_part
from row import Row
def rows(quick):
    yield Row("Sudare", 2.0, "s", case="race")
    yield Row("peer", 30.0 if quick else 60.0, "s", "Sudare", case="race")
    yield Row("worst", 15.0, "times", case="race", at_least=20)
run_part(rows)
"""
BROKEN = GOOD.replace('    yield Row("worst"', "    raise OSError('no such thing')\n    yield Row(\"worst\"")
KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


@pytest.fixture
def board(tmp_path, monkeypatch, benchmarks):
    """A scoreboard of three invented parts, in a folder of its own."""
    import parts
    import results
    import run

    texts = {"good": '"""A race."""' + GOOD, "broken": '"""Breaks."""' + BROKEN, "killed": '"""Ends."""\n' + KILLED}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text.replace("{folder!r}", repr(str(benchmarks))))
    invented = {name: parts.Part(f"The part {name}", parts.PEERS) for name in ("broken", "killed", "good")}
    for module in (run, results):
        monkeypatch.setattr(module, "PARTS", invented)
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(run, "KEPT", tmp_path / "results")
    monkeypatch.setattr(run, "IMAGES", tmp_path / "images")
    return tmp_path


def scoreboard(monkeypatch, *arguments):
    import run

    monkeypatch.setattr(sys, "argv", ["run.py", *arguments])
    run.main()


def test_a_broken_part_stops_nobody_and_is_named(board, monkeypatch, capfd):
    with pytest.raises(SystemExit, match="broken parts: broken, killed"):
        scoreboard(monkeypatch)
    page = (board / "RESULTS.md").read_text()
    assert "30 x Sudare" in page
    assert "**It broke down**: OSError: no such thing. What it measured before:" in page
    assert "**It broke down**: it ended with exit code -9" in page
    assert "Goals: 0 of 1 met" in page
    assert "| good | race: worst | at least 20 | 15 times |" in page
    assert str(board) not in page
    kept = json.loads((board / "results" / "good.json").read_text())
    assert kept["megabytes"] is None or kept["megabytes"] > 1
    assert kept["failure"] == ""

    (board / "RESULTS.md").unlink()
    scoreboard(monkeypatch, "--report")
    assert (board / "RESULTS.md").read_text() == page


def test_parts_by_name_and_a_name_that_is_none(board, monkeypatch, capfd):
    scoreboard(monkeypatch, "good")
    assert "Not run: broken, killed." in (board / "RESULTS.md").read_text()
    with pytest.raises(SystemExit):
        scoreboard(monkeypatch, "god")
    assert "there is no part 'god'; the parts are broken, killed, good" in capfd.readouterr().err


def test_every_benchmark_is_a_part_of_the_scoreboard(benchmarks):
    from parts import PARTS, SECTIONS

    scripts = {path.stem for path in benchmarks.glob("*.py") if "__main__" in path.read_text()} - {
        "run",
        "marginal_peers",
        "map_page",  # pages in a browser, looked at by hand
    }
    assert scripts == set(PARTS)
    assert {part.section for part in PARTS.values()} == set(SECTIONS)


def test_the_kept_page_is_what_the_kept_rows_give(benchmarks, tmp_path):
    import results

    if not (benchmarks / "RESULTS.md").exists():
        pytest.skip("nothing was measured yet")
    kept = results.read_kept(benchmarks / "results")
    page = (benchmarks / "RESULTS.md").read_text()
    for name, part in kept.items():
        rows = results.read_rows(part["rows"])
        if not rows:
            assert part["failure"], name
            continue
        assert results.part_text(name, part, rows, None, tmp_path).split("| case |")[1] in page, name
    assert not re.search(r"/(?:work|home|root|tmp)/", page)
