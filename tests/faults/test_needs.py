"""What a release needs is foreseen: estimates beside measured peaks, and refusals before the row.

A process of its own reads the data, estimates, makes and writes the release, and says by how much its resident memory
grew at most (the system's own high-water mark, set back after reading). ``--full`` runs the whole grid.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import CapacityError, OutputError, PaidError
from sudare.parallel import cores
from sudare.privacy import Ledger
from sudare.recipe.kind import FIXED_MEMORY, Needs
from sudare.workflow import plan
from sudare.workflow.needs import available_memory, free_disk, memory_refused, refuse_scarce
from sudare.workflow.publication import publish

SHARED = """
ledger = {path = "ledger.db", cap = {epsilon = 100}}
output = {folder = "release", key = "publisher.pem"}
report = {public = false}
"""
TABLE = """
dataset = "village"
data = {{path = "counts.parquet", counts = "n", unit_name = "person"}}
domain.cell = {{type = "line", length = {size}}}
method = {{{method}}}
privacy = {{epsilon = {epsilon}}}
rehearsal = {{people = 1000, repetitions = 1}}
"""
MAP = """
dataset = "village"
data = {path = "counts.parquet", counts = "n", unit_name = "person"}
domain.mesh = {type = "mesh", size = "500m", rows = [8000, SIDE], columns = [6000, WIDTH], from = ["mesh"]}
privacy = {epsilon = 1}
"""
SAMPLE = """
kind = "sample"
dataset = "village"
accept_no_guarantee = true
data = {path = "people.parquet"}
hierarchies.age = {widths = [1, 10, 50], low = 0, high = 100}
hierarchies.town = {tree = {north = ["A", "B"], south = ["C", "D"]}}
sample = {k = 3, rate = 0.9, levels = {age = 1, town = 1}}
"""
PERTURBATION = """
kind = "perturbation"
dataset = "village"
data = {path = "people.parquet"}
columns.age = {bounds = [0, 120]}
columns.income = {bounds = [0, 2000]}
perturbation = {epsilon = 1}
"""
WEIGHTS = """
kind = "weights"
dataset = "village"
data = {path = "people.parquet"}
public = {path = "public.parquet"}
columns.age = {bounds = [0, 120]}
columns.income = {bounds = [0, 2000]}
weights = {epsilon = 1, number = 8}
"""
MEASURE = """
import ctypes, gc, json, sys
from pathlib import Path
import pyarrow as pa
import pyarrow.csv, pyarrow.parquet
from sudare.noise import Source
from sudare.workflow.job import Job

def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

job = Job.ready(sys.argv[1]).kind
source = Source.system()
data = job.gather(source)
needs = job.needs(data)
gc.collect()
ctypes.CDLL(None).malloc_trim(0)
pa.default_memory_pool().release_unused()
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
folder = Path(sys.argv[1]).parent / "written"
folder.mkdir()
files = job.write(job.protect(data, source), folder)
disk = sum(path.stat().st_size for path in files.values())
print(json.dumps([needs.memory, status("VmHWM") - before, needs.disk, disk]))
"""
# A limit of the process, so many bytes above what it has when the package is loaded, and then the command.
CRAMPED = """
import resource, sys
from pathlib import Path
import pyarrow.csv, pyarrow.parquet, duckdb, sudare.workflow.publication, sudare.tables.kind
from sudare.cli import main
lines = Path("/proc/self/status").read_text().splitlines()
used = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmSize"))
limit = used + int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
main()
"""


def counts(folder: Path, recipe: str, size: int, cells: int, mean: float) -> Path:
    rng = np.random.default_rng(5)
    index = np.unique(rng.integers(0, size, cells))
    pq.write_table(pa.table({"cell": index, "n": rng.geometric(1 / mean, len(index))}), folder / "counts.parquet")
    return written(folder, recipe)


def people(folder: Path, recipe: str, rows: int) -> Path:
    rng = np.random.default_rng(6)
    columns = {
        "age": rng.integers(0, 100, rows),
        "town": rng.choice(list("ABCD"), rows),
        "income": rng.gamma(2, 200, rows).clip(0, 2000),
    }
    pq.write_table(pa.table(columns), folder / "people.parquet")
    pq.write_table(pa.table({"age": columns["age"] + 0.5, "income": columns["income"]}), folder / "public.parquet")
    return written(folder, recipe)


def written(folder: Path, recipe: str) -> Path:
    maps = SHARED.replace('"publisher.pem"', '"publisher.pem", formats = ["parquet", "csv", "geoparquet", "geojson"]')
    (folder / "recipe.toml").write_text(recipe + (maps if "mesh" in recipe else SHARED))
    return folder / "recipe.toml"


def table(method: str, size: int, epsilon: float) -> str:
    return TABLE.format(method=method, size=size, epsilon=epsilon)


def measured(recipe: Path) -> tuple[int | None, int, int, int]:
    """Estimated and measured bytes of memory, then of disk."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(recipe)], capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return tuple(json.loads(done.stdout.splitlines()[-1]))  # DuckDB shows its progress where there is no script


def require_close(what: str, memory: int, peak: int, disk: int, bytes_written: int, side_by_side: bool = False) -> None:
    """Never below, and at most twice, beside the 32 MB that any release is estimated at.

    Of replicates that are worked on ``side_by_side`` the peaks meet or not, by chance: 209 to 359 MB of one table. The
    estimate is that they meet, so that it may be three times.
    """
    shown = f"{what}: memory {memory / peak:.2f} times {peak >> 20} MB, "
    shown += f"disk {disk / bytes_written:.2f} times {bytes_written / 2**20:.2f} MB"
    print(shown)
    assert peak <= memory <= (3 if side_by_side else 2) * peak + FIXED_MEMORY, shown
    assert bytes_written <= disk <= max(2 * bytes_written, 2**22), shown


QUICK = [
    ('name = "laplace"', 2**21, 100_000, 5, 1),
    ('name = "tree"', 2**34, 200_000, 3, 1),
    # Error bars are learned from replicates, side by side where there are cores.
    ('name = "tree"', 2**20, 20_000, 3, 1),
    # Nearly all that is listed are empty cells that passed the cut.
    ('name = "laplace", cut = 2', 2**23, 500, 5, 1),
]
SLOW = [
    ('name = "tree"', 2**12, 500, 3, 1),
    *[(f'name = "{name}"', 2**20, 20_000, 3, 1) for name in ("top_down", "simplex", "laplace")],
    ('name = "top_down"', 2**26, 120_000, 3, 1),
    ('name = "laplace"', 2**17, 20_000, 3, 1),
    ('name = "laplace"', 2**18, 20_000, 3, 1),
    ('name = "tree"', 2**20, 100_000, 3, 1),
    *[(f'name = "{name}"', 2**36, 2_000_000, 3, 1) for name in ("tree", "top_down", "simplex")],
    *[(f'name = "{name}"', 2**22, 1_000_000, 20, 0.2) for name in ("tree", "top_down", "simplex", "laplace")],
    *[(f'name = "{name}"', 2**40, 500_000, 20, 4) for name in ("tree", "top_down", "negative_l2", "nonnegative_lasso")],
    ('name = "laplace"', 7_000_000, 100_000, 5, 0.1),
    ('name = "laplace", cut = 3', 2**26, 100_000, 5, 1),
    ('name = "laplace", cut = 1', 2**24, 100_000, 5, 0.5),
    ('name = "privelet"', 2**23, 100_000, 5, 1),
    ('name = "privelet"', 7_000_000, 100_000, 5, 1),
]


@pytest.mark.skipif(sys.platform != "linux", reason="the high-water mark of memory is read as Linux tells it")
def test_a_table_takes_what_was_estimated(tmp_path, full):
    for place, case in enumerate(QUICK + (SLOW if full else [])):
        method, size, cells, mean, epsilon = case
        folder = tmp_path / str(place)
        folder.mkdir()
        memory, peak, disk, bytes_written = measured(counts(folder, table(method, size, epsilon), size, cells, mean))
        side_by_side = size <= 2**20 and cores() > 1  # larger ones have no error bars
        require_close(method, memory, peak, disk, bytes_written, side_by_side)


@pytest.mark.skipif(sys.platform != "linux", reason="the high-water mark of memory is read as Linux tells it")
def test_a_map_takes_what_was_estimated(tmp_path, full):
    for side in (64, 256, 400, 512) if full else (64,):
        folder = tmp_path / str(side)
        folder.mkdir()
        domain = Domain(mesh=Mesh("500m", rows=(8000, 8000 + side), columns=(6000, 6000 + side)))
        rank = np.unique(np.random.default_rng(5).integers(0, domain.size, side * side // 3))
        rows = CountTable(domain, domain.cells(rank), 1 + rank % 7).to_arrow()
        pq.write_table(rows.select(["mesh", "count"]).rename_columns(["mesh", "n"]), folder / "counts.parquet")
        measures = measured(written(folder, MAP.replace("SIDE", str(8000 + side)).replace("WIDTH", str(6000 + side))))
        require_close(f"{side} x {side} mesh cells", *measures)


@pytest.mark.skipif(sys.platform != "linux", reason="the high-water mark of memory is read as Linux tells it")
def test_records_take_what_was_estimated(tmp_path, full):
    for kind, rows in [(PERTURBATION, 3_000_000), (SAMPLE, 6_000_000)] if full else [(PERTURBATION, 100_000)]:
        folder = tmp_path / str(rows)
        folder.mkdir()
        memory, peak, disk, bytes_written = measured(people(folder, kind, rows))
        require_close(f"{rows} rows", memory, peak, disk, bytes_written)


@pytest.mark.skipif(sys.platform != "linux", reason="the high-water mark of memory is read as Linux tells it")
def test_weights_take_the_disk_that_was_estimated(tmp_path):
    memory, _, disk, bytes_written = measured(people(tmp_path, WEIGHTS, 2000))
    assert memory is None  # a release of this size was made before anything was paid for
    assert bytes_written <= disk <= 2 * bytes_written + 2**17


def rows_in(folder: Path) -> int:
    path = folder / "ledger.db"
    return len([entry for entry in Ledger(path).entries() if entry.kind == "spend"]) if path.exists() else 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process has no such limit, or does not heed it")
def test_memory_that_is_not_there_is_refused_before_the_row(tmp_path):
    recipe = counts(tmp_path, table('name = "laplace"', 2**25, 1), 2**25, 1000, 3)
    command = [sys.executable, "-c", CRAMPED, str(1200 << 20), "publish", str(recipe)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert rows_in(tmp_path) == 0, done.stderr
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("Error: the release needs about "), done.stderr
    assert " GB of memory, and " in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "release").exists()


def scarce(monkeypatch, **here: int) -> None:
    """This machine, as one that says it has less."""
    for name, size in here.items():
        monkeypatch.setattr(f"sudare.workflow.needs.{name}", lambda *_, size=size: size)


@pytest.mark.parametrize(("here", "what"), [("available_memory", "of memory"), ("free_disk", "of disk")])
def test_plan_says_it_publish_refuses_and_the_steward_may_insist(tmp_path, monkeypatch, here, what):
    recipe = counts(tmp_path, table('name = "tree"', 2**12, 1), 2**12, 500, 3)
    scarce(monkeypatch, **{here: 1000})
    assert any(f"{what}, and 1 kB is" in str(remark) for remark in plan(recipe).remarks)
    with pytest.raises(CapacityError, match=what):
        publish(recipe)
    assert rows_in(tmp_path) == 0
    recipe.write_text(recipe.read_text().replace('folder = "release"', 'folder = "release", confirm_resources = true'))
    publish(recipe)
    assert rows_in(tmp_path) == 1


def test_a_refusal_names_no_exact_number():
    with pytest.raises(CapacityError) as refused:
        refuse_scarce(Needs(memory=123_456_789_123_456_789), Path("release"))
    assert "130" in str(refused.value)
    assert "123" not in str(refused.value)


def test_full_memory_is_a_sentence(tmp_path, monkeypatch):
    recipe = counts(tmp_path, table('name = "tree"', 2**12, 1), 2**12, 500, 3)
    monkeypatch.setattr("sudare.tables.kind.write", lambda *_: np.empty(2**55))
    with pytest.raises(PaidError, match=r"is not out: the machine is out of memory\. .* machine\. To complete"):
        publish(recipe)
    assert not (tmp_path / "release").exists()


def test_every_error_of_full_memory_is_one_of_ours():
    for fill in (lambda: np.empty(2**55), lambda: pa.allocate_buffer(2**60), lambda: bytearray(2**62)):
        with pytest.raises(CapacityError), memory_refused():
            fill()


@pytest.mark.parametrize("target", ["link", "link/release", "sub/..", "missing/..", "file/release", "a" * 230])
def test_a_folder_that_cannot_appear_is_refused_before_the_row(tmp_path, target):
    recipe = counts(tmp_path, table('name = "tree"', 2**12, 1), 2**12, 500, 3)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "sub").mkdir()
    (tmp_path / "file").touch()
    recipe.write_text(recipe.read_text().replace('folder = "release"', f'folder = "{target}"'))
    with pytest.raises(OutputError) as refused:
        publish(recipe)
    assert "\n" not in str(refused.value)
    assert rows_in(tmp_path) == 0
    assert not [path for path in tmp_path.rglob(".*") if "partial" in path.name]


def test_what_a_container_leaves_is_what_is_available(tmp_path):
    def file(name: str, text: str) -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    file("proc/meminfo", "MemTotal:  9000 kB\nMemAvailable:  8000 kB\n")
    assert available_memory(tmp_path) == 8000 * 1024
    file("proc/self/cgroup", "9:cpu:/box\n4:memory:/host/box\n")
    file("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000000")
    file("sys/fs/cgroup/memory/memory.usage_in_bytes", "4000000")
    file("sys/fs/cgroup/memory/memory.stat", "cache 1\ntotal_inactive_file 500000\n")
    assert available_memory(tmp_path) == 1_500_000
    file("proc/self/cgroup", "0::/slice/box\n")
    file("sys/fs/cgroup/slice/box/memory.max", "max\n")
    file("sys/fs/cgroup/slice/box/memory.current", "10\n")
    file("sys/fs/cgroup/slice/memory.max", "3000000\n")
    file("sys/fs/cgroup/slice/memory.current", "2000000\n")
    assert available_memory(tmp_path) == 1_000_000


def test_free_disk_is_that_of_the_folder_that_is_there(tmp_path):
    assert free_disk(tmp_path / "not" / "yet") == pytest.approx(free_disk(tmp_path), rel=0.5)
