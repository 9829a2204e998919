from __future__ import annotations

import sys

import pytest


@pytest.fixture
def here(monkeypatch):
    """Peers run by this interpreter: what is tested is how they are driven."""
    import peers

    monkeypatch.setattr(peers, "peer_python", lambda name, requirements: sys.executable)
    monkeypatch.setattr(peers, "CALLED", {})
    return peers


def test_an_answer_comes_with_versions_and_memory(here):
    script = "import json, sys\nprint('chatter')\nprint(json.dumps([1, sys.argv[1]]))"
    assert here.run_peer("numpy-here", ["numpy>=2"], script, "two") == [1, "two"]
    called = here.CALLED["numpy-here"]
    assert "numpy" in called.versions
    assert sys.platform != "linux" or called.megabytes > 1


def test_a_peer_that_fails_leaves_a_row_that_says_why_without_paths(here):
    from row import Row

    rows = [Row("Sudare", 1.0, "s")]
    with here.missing(rows, Row("peer", 0, "s", "Sudare")):
        here.run_peer("broken", [], "raise OSError('no Java in /usr/lib/jvm/seventeen')")
    assert rows[1].value is None
    assert rows[1].note == "broken failed: OSError: no Java in ..."
    assert rows[1].ratio_to == "Sudare"


def test_the_memory_of_a_family_holds_its_children(benchmarks):
    import subprocess

    from family import family_megabytes
    from memory import peak_megabytes

    if peak_megabytes() is None:
        pytest.skip("memory is read from the kernel's tables, which are not here")
    hold = (
        "import sys; kept = bytearray(200_000_000); kept[::4096] = b'x' * len(kept[::4096]); print(); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        alone, together = peak_megabytes(), family_megabytes()
        child.stdin.close()
    assert together > alone + 180
