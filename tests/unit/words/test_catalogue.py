"""Both languages say the same things, every key is used, and every key that is used is there."""

import re
from pathlib import Path

import pytest

import sudare
from sudare.audit.finding import LIMITS, PARTS
from sudare.domain.mesh import LEVELS
from sudare.errors import ParameterError
from sudare.privacy.shown import DIFFERENTIAL, NAMES
from sudare.registry import KINDS
from sudare.tables import Laplace, NegativeL2, NonnegativeLasso, Privelet, Simplex, TopDown, Tree
from sudare.words import LANGUAGES, Words, spoken_here
from sudare.words.catalogue import catalogue
from sudare.words.stated import STATED

SOURCE = Path(sudare.__file__).parent
METHODS = [
    method.name for method in (Tree(), Laplace(), Simplex(), NegativeL2(), NonnegativeLasso(), Privelet(), TopDown())
]
ERRORS = ("cells", "mean_absolute_error", "root_mean_square_error", "mean_error")
PAGES = ("data", "protect", "rehearse", "publish", "ledger")
ATTRIBUTES = ("mesh", "categories", "bins", "grid", "line")
MEASURES = (
    "column", "bins", "noise", "scale", "l1_accuracy", "query", "weighted_error", "unweighted_error", "measure",
    "value", "basis", "meaning",
)  # fmt: skip
STAGES = (
    "reading", "spending", "protecting", "writing", "making the data", "drawing the report",
    "drawing the internal report",
)  # fmt: skip
FAMILIES = {"live.change", "live.measure", "live.part", "live.stage", "live.type"}
"""First parts of keys that the studio's pages give to `known`."""
COMPOSED = {
    # Keys that the code puts together: from lists that the code has too, so that these cannot grow stale either.
    *(f"stated.{name}" for name in STATED),
    *(f"guarantee.{name}.name" for name in NAMES.values()),
    *(f"guarantee.{name}.value" for name in NAMES.values()),
    *(f"guarantee.{name}.presence" for name in DIFFERENTIAL if name != "local"),
    *(f"guarantee.{name}.epsilon" for name in ("pk", "k")),
    *(f"mesh.{name}" for name in LEVELS),
    *(f"{family}.{name}" for family in ("method_name", "method_text") for name in METHODS),
    *(f"method.{currency}" for currency in ("epsilon", "rho")),
    *(f"{family}{question}" for family in ("odds.", "odds.guess_", "prevented.") for question in ("presence", "value")),
    *(f"unit.{name}" for name in ("person", "row", "household", "device")),
    *(f"period.{name}" for name in ("hour", "day", "week", "month", "year")),
    *(f"{family}.{name}" for family in ("compare", "error") for name in ERRORS),
    *(f"compare.{name}" for name in ("mean_truth", "relative_error", "kept", "vanish", "appear", "empty")),
    "error.square_km",
    # The studio: what its templates put together from lists, and what its pages take from such lists by `known`.
    *(f"studio.{family}.{page}" for family in ("page", "title", "lead") for page in PAGES),
    *(f"studio.{family}.{kind}" for family in ("kind", "kind_text") for kind in KINDS),
    *(f"studio.size.{name}" for name in LEVELS),
    *(f"studio.type.{name}" for name in ATTRIBUTES),
    *(f"studio.mesh.{edge}" for edge in ("north", "south", "west", "east")),
    *(f"live.part.{name}" for name in (*ATTRIBUTES, "bounds", "listed", "widths", "values")),
    *(f"live.change.{name}" for name in ("start", "edit", "text", "undo", "redo", "back", "outside")),
    *(f"live.type.{name}" for name in ("FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP")),
    *(f"live.stage.{name}" for name in STAGES),
    *(f"live.basis.{name}" for name in ("people", "records", "tilt", "file")),
    *(f"live.measure.{name}" for name in MEASURES),
    *(f"live.books.{name}" for name in ("spent", "this", "left")),
    *(f"live.remark.{name}" for name in ("folder", "data")),
    *(f"live.chart.{name}" for name in ("areas", "values")),
    *(f"live.support.{name}" for name in ("kept", "vanish", "appear")),
    *(f"live.ledger.{name}" for name in ("row", "time", "dataset", "what", "amount", "hash")),
    *(f"ledger.{name}" for name in ("dataset", "cap", "spent", "remaining", "releases")),
    # The audit: its parts, its limits, and the columns of its tables.
    *(f"audit.{part}{more}" for part in PARTS for more in ("", "_text")),
    *(f"audit.limit_{name}" for name in LIMITS),
    *(f"audit.column_{name}" for name in ("what", "result", "trials", "seen", "allowed")),
}  # fmt: skip


def written():
    """Keys that appear in code, templates and specs as they are."""
    found = set()
    # The collector has a catalogue of its own.
    for path in SOURCE.rglob("*"):
        if path.suffix in (".py", ".html") and "collector" not in path.parts:
            # A key that ends in a dot is put together; what of is listed above.
            found |= set(re.findall(r"""\bwords\(\s*["']([\w.]+\w)["']""", path.read_text(encoding="utf-8")))
            found |= set(
                re.findall(r"""words\(\s*"([\w.]+)" if .+? else "[\w.]+"\s*\)""", path.read_text(encoding="utf-8"))
            )
            found |= set(
                re.findall(r"""words\(\s*"[\w.]+" if .+? else "([\w.]+)"\s*\)""", path.read_text(encoding="utf-8"))
            )
            # What findings of the audit say.
            said = re.findall(r"""\bsaid\(\s*"(\w+)\"""", path.read_text(encoding="utf-8"))
            found |= {f"audit.{key}" for key in said if "audit" in path.parts}
        elif path.suffix == ".js" and "studio" in path.parts:
            found |= set(re.findall(r"""["'](live\.[\w.]*\w)["']""", path.read_text(encoding="utf-8"))) - FAMILIES
        elif path.parent.name == "specs":
            found |= set(re.findall(r"\{\{@([\w.]+)\}\}", path.read_text(encoding="utf-8")))
    return found


def gaps(message):
    return sorted(re.findall(r"\{(\w+)\}", message))


def test_both_languages_have_the_same_keys_and_gaps():
    english, japanese = (catalogue(language) for language in LANGUAGES)
    assert list(english) == list(japanese)
    for key, message in english.items():
        assert set(gaps(message)) == set(gaps(japanese[key])), key
        assert message.strip(" ;") or key == "chart.and_then"
        assert japanese[key], key


def test_every_key_that_is_used_is_there():
    assert written() | COMPOSED <= set(catalogue("en"))


def test_no_key_is_unused():
    assert set(catalogue("en")) <= written() | COMPOSED


def test_japanese_is_japanese():
    same = {key for key, message in catalogue("ja").items() if message == catalogue("en")[key]}
    signs = {"area.square_km", "method.epsilon", "method.rho", "method_name.privelet"}
    signs |= {
        f"{family}.{name}"
        for family in ("compare", "error")
        for name in ("root_mean_square_error", "mean_absolute_error")
    }
    assert same == signs
    for key, message in catalogue("ja").items():
        # Signs beside Japanese letters are full-width.
        assert not re.search(r"[\u3040-\u9fff][(:,~]|[(:,~][\u3040-\u9fff]", message), key


def test_numbers_are_written_as_the_language_does():
    assert Words("en")("area.cells", cells=1234) == "1,234 cells"
    assert Words("ja").percent(0.125) == "12.5%"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Words("fr"), "unknown language (got 'fr'; allowed: en, ja)"),
        (lambda: Words()("area.cell"), "there is no such message (got 'area.cell'). Did you mean 'area.cells'?"),
        (lambda: Words()("area.cells"), "the message 'area.cells' has other gaps (got []; allowed: cells)"),
        (lambda: Words()("page.public", x=1), "the message 'page.public' has other gaps (got ['x']; allowed: none)"),
    ],
)
def test_mistakes_are_one_sentence(call, sentence):
    with pytest.raises(ParameterError) as mistake:
        call()
    assert str(mistake.value) == sentence


def test_a_value_with_braces_stays_as_it_is():
    assert Words()("page.dataset", dataset="{dataset}") == "data set {dataset}"


def test_what_the_catalogue_does_not_know_is_said_as_it_is():
    assert Words("ja").known("method_name", "my_method") == "my_method"
    assert Words("ja").stated("a sentence of somebody else") == "a sentence of somebody else"


def test_notebooks_speak_the_language_of_the_environment(monkeypatch):
    monkeypatch.delenv("SUDARE_LANGUAGE", raising=False)
    assert spoken_here() == Words("en")
    monkeypatch.setenv("SUDARE_LANGUAGE", "ja")
    assert spoken_here() == Words("ja")
    monkeypatch.setenv("SUDARE_LANGUAGE", "tlh")
    assert spoken_here() == Words("en")
