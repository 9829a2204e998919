"""What a recipe and public files alone rule out is refused by all three verbs, and the ledger stays as it was."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import sudare as sd
from sudare.errors import InputError, SudareError
from sudare.privacy import Guarantee, Ledger

SCALE = "the scale of the noise is out of range"
NUMBER = "a number of the recipe is too large or too small to be computed with"
BESIDE = """
ledger = {path = "ledger.db", cap = {epsilon = 1e399, delta = 0.001}}
output = {folder = "release", key = "publisher.pem"}
report = {public = false}
rehearsal = {people = 200, repetitions = 1}
accept_no_guarantee = true
dataset = "village"
"""
HIERARCHY = "hierarchies.{} = {{widths = [1, 2, 4, 8, 16], low = 0, high = 64}}\n"


def table(method: str, privacy: str = "epsilon = 1", cells: int = 64, **further: str) -> str:
    parts = {
        "data": 'path = "people.parquet", unit = "person"',
        "domain.cell": f'type = "line", length = {cells}',
        "method": f"name = {method}",
        "privacy": privacy,
        **further,
    }
    return "\n".join(f"{name} = {{{part}}}" for name, part in parts.items())


def sample(choice: str, columns: int = 1) -> str:
    trees = "".join(HIERARCHY.format(name) for name in ("cell", "b", "c", "d", "e", "f", "g", "h", "i", "j")[:columns])
    return f'kind = "sample"\ndata = {{path = "people.parquet", unit = "person"}}\n{trees}sample = {{k = 3, {choice}}}'


def perturbation(choice: str) -> str:
    columns = 'columns.age = {bounds = [0, 99]}\ncolumns.sex = {categories = ["f", "m"]}'
    return f'kind = "perturbation"\ndata = {{path = "people.parquet"}}\n{columns}\nperturbation = {{{choice}}}'


def weights(choice: str, public: str = "public.csv") -> str:
    files = f'data = {{path = "people.parquet"}}\npublic = {{path = "{public}"}}'
    return f'kind = "weights"\n{files}\ncolumns.age = {{bounds = [0, 99]}}\nweights = {{{choice}}}'


METHODS = (
    '"tree"',
    '"laplace"',
    '"laplace", cut = 3',
    '"simplex"',
    '"negative_l2"',
    '"negative_l2", strength = 0.5',
    '"marginals"',
    '"nonnegative_lasso"',
    '"nonnegative_lasso", strength = 8',
    '"privelet"',
    '"top_down"',
)
WRONG = [
    *((table(method, f"epsilon = {epsilon}"), SCALE) for method in METHODS for epsilon in ("1e-30", "1e8")),
    (table('"simplex"', 'epsilon = 1e-30, total = "public"'), SCALE),
    (table('"tree"', "rho = 1e-40"), SCALE),
    (table('"tree"', "epsilon = 1e300, delta = 1e-6"), SCALE),
    (table('"tree", shares = [1, 1e-30]'), SCALE),  # one level is enough
    (table('"tree", shares = [1, 2, 3]'), "the shares do not fit the tree"),
    (table('"laplace"', cells=2**29), "the domain is too large for noise in every cell"),
    (table('"privelet"', cells=2**29), "the domain is too large for a dense transform"),
    (table('"privelet", decomposition = "standard"'), "the standard decomposition takes a domain with two axes"),
    (table('"nonnegative_lasso", strength = 0', cells=2**31), "the noise of too many cells is above the threshold"),
    (table('"nonnegative_lasso", strength = 8', "epsilon = 1e-350"), SCALE),
    (table('"nonnegative_lasso", strength = 8', "epsilon = 1e350"), NUMBER),
    (
        table('"laplace"') + "\npublic_totals = [{where = {cell = [1]}, number = 5}]",
        "method laplace cannot keep public totals",
    ),
    (sample("rate = 0.5, choose_epsilon = 1", 10), "too many combinations of levels"),
    (sample('method = "optimal"', 10), "too many combinations of levels"),
    (sample('rate = 0.5, method = "passes"', 10), "too many combinations of levels"),
    (sample('rate = 0.01, learn_on = "public.csv"'), "the public records are too few to learn on"),
    (perturbation("epsilon = 1e-30"), SCALE),
    (perturbation("epsilon = 1e-350"), NUMBER),
    (perturbation('epsilon = 1e350, noise = "square_wave"'), NUMBER),
    (weights("epsilon = 1e-30"), SCALE),
    (weights("epsilon = 1e30"), SCALE),
    (weights('epsilon = 1e30, delta = 1e-6, basis = "kernel"'), SCALE),
    (weights('epsilon = 1e-9, centres = "noisy", number = 20'), SCALE),
    (weights("epsilon = 1, number = 100"), "there are more centres than public rows"),
    (weights("epsilon = 1", "none.csv"), "there is no such file"),
]
RIGHT = [
    *(table(method) for method in METHODS),
    table('"tree", shares = [1, 2]'),
    # Nobody has no total: what is declared of areas must not be held against that.
    table('"tree"', 'epsilon = 1, total = "public"') + "\npublic_totals = [{where = {cell = [1]}, number = 5}]",
    sample("rate = 0.5, choose_epsilon = 1", 1),
    sample('rate = 0.5, method = "optimal", max_suppressed = 1'),
    sample('method = "greedy", max_suppressed = 1'),
    perturbation("epsilon = 1"),
    perturbation("k = 2, records = 300"),
    weights("epsilon = 1"),
    weights('epsilon = 1, centres = "noisy", number = 20'),
    # More centres than public rows, which private ones are not: a trial on the public rows must not mind.
    weights('epsilon = 1, centres = "noisy", number = 100'),
]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(1)
    people = {"person": np.arange(300), "cell": rng.integers(0, 64, 300), "age": rng.integers(1, 99, 300)}
    pq.write_table(pa.table({**people, "sex": rng.choice(["f", "m"], 300)}), tmp_path / "people.parquet")
    csv.write_csv(pa.table({"age": rng.integers(1, 99, 60), "cell": rng.integers(0, 64, 60)}), tmp_path / "public.csv")
    return tmp_path


def write(folder, text):
    (folder / "recipe.toml").write_text(BESIDE + text, encoding="utf-8")
    return folder / "recipe.toml"


@pytest.mark.parametrize(("text", "sentence"), WRONG)
def test_what_is_known_beforehand_is_refused_before_it_is_paid_for(folder, text, sentence):
    ledger = Ledger(folder / "ledger.db")
    ledger.set_cap("village", epsilon="1e399", delta=0.001)
    ledger.spend("village", Guarantee("epsilon-DP", epsilon=1), "before")
    before = ledger.entries()
    (folder / "people.parquet").unlink()  # no verb comes as far as the private data
    recipe = write(folder, text)
    for verb in (sd.plan, sd.rehearse, sd.publish):
        with pytest.raises(SudareError, match=sentence) as refusal:
            verb(recipe)
        assert "\n" not in str(refusal.value)
        assert ledger.entries() == before
    assert not (folder / "release").exists()
    assert not (folder / "publisher.pem").exists()


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_passes_and_is_paid_for_once(folder, text):
    recipe = write(folder, text)
    sd.plan(recipe)
    assert not (folder / "ledger.db").exists()
    sd.publish(recipe)
    assert [entry.kind for entry in Ledger(folder / "ledger.db").entries()] == ["cap", "spend"]


def test_what_depends_on_the_data_is_refused_where_they_are_read(folder):
    recipe = write(folder, table('"tree"', cells=8))
    assert sd.plan(recipe).balance_after is not None
    with pytest.raises(SudareError, match="outside"):
        sd.publish(recipe)
    with pytest.raises(InputError, match="k is larger than the number of records"):
        sd.publish(write(folder, sample("rate = 0.5, levels = {cell = 1}").replace("k = 3", "k = 400")))
    assert not (folder / "ledger.db").exists()
