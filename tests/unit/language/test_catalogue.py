"""Both languages say the same things, every key is used, and every key that is used is there."""

import os
import re
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

import sudare
from sudare.anonymity.requirements import KINDS as REQUIREMENTS
from sudare.audit.finding import FORMS, LIMITS, PARTS
from sudare.domain.mesh import LEVELS
from sudare.engines.examine import Reason
from sudare.errors import ParameterError
from sudare.language.catalogue import LANGUAGES, LOCALE, Words, catalogue, choose_language, current_language
from sudare.language.messages import Stage
from sudare.papers.catalogue import PAPERS
from sudare.privacy.fact import SENTENCES
from sudare.privacy.notebook import DIFFERENTIAL, NAMES
from sudare.registry import KINDS
from sudare.reweight.answers import FLAGS
from sudare.tables import Laplace, Marginals, NegativeL2, NonnegativeLasso, Privelet, Simplex, TopDown, Tree
from sudare.tables.auto import Auto
from sudare.tables.forecast import FORECAST
from sudare.tables.scenarios import RANGE
from sudare.tables.synthetic import SPREADS

SOURCE = Path(sudare.__file__).parent
METHODS = [
    method.name
    for method in (
        Auto(),
        Tree(),
        Laplace(),
        Marginals(),
        Simplex(),
        NegativeL2(),
        NonnegativeLasso(),
        Privelet(),
        TopDown(),
    )
]
ERRORS = ("cells", "mean_absolute_error", "root_mean_square_error", "mean_error")
PAGES = ("data", "protect", "rehearse", "publish", "ledger")
PLACES = ("mesh", "latlon", "tiles", "europe_grid", "h3", "regions")
ATTRIBUTES = (*PLACES, "categories", "bins", "grid", "line")
KIND_FAMILIES = ("sample", "weights", "perturbation", "audit_name", "format")
COLUMNS = ("cells", "square_km", "mean_absolute_error", "root_mean_square_error", "mean_error")
MEASURES = (
    "column", "bins", "noise", "scale", "l1_accuracy", "query", "weighted_error", "unweighted_error", "measure",
    "value", "basis", "meaning",
)  # fmt: skip
LINES = (
    "cells", "cells_listed", "choice", "columns", "disk", "domain", "drawn", "effective_rows", "estimator",
    "generalisation", "l1_accuracy", "largest_weight", "levels", "linked", "local_epsilon", "loss", "measured",
    "memory", "method", "noise", "parts", "perturbed_rows", "public_rows", "published", "published_rows",
    "released_cells",
    "released_total", "rows", "sensitivity", "smallest_area", "smallest_total", "smallest_class", "weighted_rows",
)  # fmt: skip
FAMILIES = {"live.change", "live.measure", "live.name", "live.part", "live.type"}
"""First parts of keys that the studio's pages give to `known`."""
FACTS = {
    "sparse-l2": ("data", "runs", "note"),
    "top-down": ("data", "runs", "theorem"),
    "ulsif": ("data", "runs", "note"),
    "k-anonymity": ("data", "runs", "epsilon", "size"),
    "rappor-em": ("data", "runs", "traces"),
    "mixture": ("data", "runs", "note"),
}
SHEETS = {
    "sparse-l2": "table1 table2 table3 table4 ranges",
    "top-down": "table2 shares table1 theorem3 density",
    "ulsif": "ratios noise adult",
    "k-anonymity": "table4_1 nearest explanations proposition_1 figures2_2_and_2_3 utility",
    "rappor-em": "table_a5 encodings correlations people traces",
    "mixture": "synthetic adult table1 table1_accuracy",
}
FIGURES = {
    "sparse-l2": "maps japan ranges_japan ranges_epsilon_0.1 ranges_epsilon_1 ranges_epsilon_10",
    "top-down": "maps error_by_area error_by_area_zoom gain_by_density",
    "ulsif": "figures",
    "k-anonymity": "2_2_and_2_3_age 4_1_record_counts 4_2_epsilon_by_rate 4_3_epsilon_by_k",
    "rappor-em": "a1_flip_chance a2_law_of_count a3_by_iteration a8_wards a9_scatter "
    "a10_a11_error_by_people a6_a7_a12_a14_maps a15_a20_error_by_epsilon",
    "mixture": "figure2_as_printed figure2_sudare",
}
"""What each paper's page says, shows and draws."""
COMPOSED = {
    # Keys that the code puts together: from lists that the code has too, so that these cannot grow stale either.
    *(f"stated.{code}" for code in SENTENCES if code != "text"),
    *(f"guarantee.{name}.name" for name in NAMES.values()),
    *(f"guarantee.{name}.value" for name in NAMES.values()),
    *(f"guarantee.{name}.presence" for name in DIFFERENTIAL if name != "local"),
    *(f"guarantee.{name}.epsilon" for name in ("pk", "k")),
    *(f"mesh.{name}" for name in LEVELS),
    *(f"requirement.{name}" for name in REQUIREMENTS),
    *(f"paper.{what}.{paper.key}" for what in ("title", "authors", "says", "found", "near") for paper in PAPERS),
    *(f"paper.{name}" for names in FACTS.values() for name in names),
    *(f"paper.fact.{paper}.{name}" for paper, names in FACTS.items() for name in names),
    *(f"paper_sheet.{paper}.{name}" for paper, names in SHEETS.items() for name in names.split()),
    *(f"paper_figure.{paper}.{name}" for paper, names in FIGURES.items() for name in names.split()),
    *(f"paper.column.{name}" for name in ("paper", "says", "function", "recipe", "command", "near", "duration")),
    *(f"attribute.{name}" for name in ("grid", *PLACES)),
    *(f"{family}.{name}" for family in ("method_name", "method_text") for name in METHODS),
    *(f"method.{currency}" for currency in ("epsilon", "rho")),
    *(f"{family}{question}" for family in ("odds.", "odds.guess_", "prevented.") for question in ("presence", "value")),
    *(f"unit.{name}" for name in ("person", "row", "household", "device")),
    *(f"period.{name}" for name in ("hour", "day", "week", "month", "year")),
    *(f"{family}.{name}" for family in ("compare", "error") for name in ERRORS),
    *(f"compare.{name}" for name in ("mean_truth", "relative_error", "kept", "vanish", "appear", "empty")),
    *(f"{family}.{name}" for family in ("column", "error") for name in FORECAST),
    *(f"basis.{name}" for name in RANGE),
    *(f"basis.concentration.{name}" for name in SPREADS),
    *(f"studio.known.{name}{text}" for name in SPREADS for text in ("", "_text")),
    *(f"live.error.{name}" for name in ("populated", "empty", "people", "relative")),
    "error.square_km",
    # What tables of something else than people say instead.
    *(key for key in catalogue("en") if key.startswith("units.") and key.removeprefix("units.") in catalogue("en")),
    # The private look.
    *(f"look.{family}.{reason}" for family in ("reason", "remedy") for reason in Reason),
    *(f"look.{name}" for name in ("rows", "fitting", "outside", "over_limit", "people")),
    *(f"look.column.{name}" for name in ("column", "reason", "rows", "remedy", "values")),
    # Messages: made where the fact is, said elsewhere.
    *(f"left_out.{page}" for page in ("report", "internal_report")),
    *(f"line.{code}" for code in LINES),
    *(f"studio.remark.{about}" for about in ("folder", "data")),
    # The studio: what its templates put together from lists, and what its pages take from such lists by `known`.
    *(f"studio.{family}.{page}" for family in ("page", "title", "lead") for page in PAGES),
    *(f"studio.{family}.{kind}" for family in ("kind", "kind_text") for kind in KINDS),
    *(f"studio.size.{name}" for name in LEVELS),
    *(f"studio.type.{name}" for name in ATTRIBUTES),
    *(f"studio.mesh.{edge}" for edge in ("north", "south", "west", "east")),
    *(f"live.part.{name}" for name in (*ATTRIBUTES, "bounds", "listed", "widths", "values")),
    *(f"live.change.{name}" for name in ("start", "edit", "text", "undo", "redo", "back", "outside")),
    *(f"live.name.{name}" for name in ("mesh", "place", "grid", "sex", "age")),
    *(f"new.attribute.{name}" for name in ("group", "sex")),
    *(f"live.type.{name}" for name in ("FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP")),
    *(f"stage.{name}" for name in Stage),
    *(f"live.measure.{name}" for name in MEASURES),
    "line.order",
    *(f"live.books.{name}" for name in ("spent", "this", "left")),
    *(f"live.chart.{name}" for name in ("areas", "values")),
    *(f"live.support.{name}" for name in ("kept", "vanish", "appear")),
    *(f"live.ledger.{name}" for name in ("row", "time", "dataset", "what", "amount", "hash")),
    *(f"ledger.{name}" for name in ("dataset", "cap", "spent", "remaining", "releases")),
    # The audit: its parts, its limits, and the columns of its tables.
    *(f"audit.{part}{more}" for part in PARTS for more in ("", "_text")),
    *(f"audit.limit_{name}" for name in LIMITS),
    *(f"audit.column_{name}" for name in ("part", "what", "result", "trials", "seen", "allowed")),
    *(f"audit.short_{part}" for part in PARTS),
    *(key for form in FORMS for key in (f"audit.{form}_form", f"audit.fact_{form}")),
    # What commands name: columns of tables that the kinds give, and of estimates.
    *(f"column.{name}" for name in (*COLUMNS, *MEASURES)),
    *(f"command.{name}" for name in ("value", "people", "standard_error", "high")),
    *(f"command.certified_{name}" for name in ("yes", "no")),
    # Pages of the kinds: names of measures and lines that are given in English, notes on intervals, and notions.
    *(key for key in catalogue("en") if key.partition(".")[0] in KIND_FAMILIES),
    *(f"weights.flag_{name}" for name in FLAGS),
    # Pages of the collector: tests/unit/collector/test_pages.py holds the keys against templates and scripts.
    *(key for key in catalogue("en") if key.startswith("collect.")),
    *(f"collected.method_{name}" for name in ("mle", "simplex", "em", "ems")),
    *(f"notion.{name}" for name in NAMES.values() if name not in ("seeded", "none")),
}  # fmt: skip


PLURAL = re.compile(
    r"\{\w+\} (cells|people|rows|columns|checks|reports|records|values|repetitions|trials|areas|runs)\b"
)
CALLED = re.compile(r"""(?:\b(?:words|said|self)|language\(\))\(\s*["'](\w+\.[\w.]*\w)["']""")
NEVER_ONE = {
    "described.regions_in_areas",
    "explain.line",
    "explain.marginals_by_total",
    "audit.timed",
    "audit.timed_first",
    "stated.combinations",
    "verified.combinations",
    *(f"paper.fact.{each}" for each in ("mixture.data", "mixture.draws", "k-anonymity.data", "top-down.data")),
}


def written():
    """Keys that appear in code, templates and specs as they are."""
    found = set()
    for path in SOURCE.rglob("*"):
        if path.suffix in (".py", ".html"):
            # A key that ends in a dot is put together; what of is listed above.
            found |= set(CALLED.findall(path.read_text(encoding="utf-8")))
            found |= set(
                re.findall(r"""words\(\s*"([\w.]+)" if .+? else "[\w.]+"\s*\)""", path.read_text(encoding="utf-8"))
            )
            found |= set(
                re.findall(r"""words\(\s*"[\w.]+" if .+? else "([\w.]+)"\s*\)""", path.read_text(encoding="utf-8"))
            )
            found |= set(re.findall(r'''\bPageMessage\(\s*"([\w.]+\w)"''', path.read_text(encoding="utf-8")))
            # What findings of the audit say.
            said = re.findall(r"""\bsaid\(\s*"(\w+)\"""", path.read_text(encoding="utf-8"))
            found |= {f"audit.{key}" for key in said if "audit" in path.relative_to(SOURCE).parts}
        elif path.name == "map.js" and "render" in path.relative_to(SOURCE).parts:
            text = path.read_text(encoding="utf-8")
            found |= {f"map.{name}" for name in re.findall(r"""(?:say|button)\("(\w+)\"""", text)} | {
                "map.choice",
                "map.to_here",
                "map.from_here",
                "map.leaving",
                "map.arriving",
            }
        elif path.suffix == ".js" and "studio" in path.relative_to(SOURCE).parts:
            found |= set(re.findall(r"""["'](live\.[\w.]*\w)["']""", path.read_text(encoding="utf-8"))) - FAMILIES
        elif path.suffix == ".js" and "reading" in path.relative_to(SOURCE).parts:
            named = re.findall(r"""["'](\w+)["']""", path.read_text(encoding="utf-8"))
            named += re.findall(r'data-text="(\w+)"', path.with_suffix(".html").read_text(encoding="utf-8"))
            found |= {f"explore.{name}" for name in named} & set(catalogue("en"))
        elif path.parent.name == "specs":
            found |= set(re.findall(r"\{\{@([\w.]+)\}\}", path.read_text(encoding="utf-8")))
    return found


def texts(language):
    """Every key with its text; of several forms the last, which is that of many."""
    return {key: entry.forms[-1] for key, entry in catalogue(language).items()}


def gaps(message):
    return sorted(re.findall(r"\{(\w+)\}", message))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys_and_gaps(language):
    english, here = catalogue("en"), catalogue(language)
    assert set(english) == set(here)
    for key, entry in english.items():
        assert here[key].counted == entry.counted, key
        assert not entry.counted or f"{{{entry.counted}}}" in entry.forms[0], key
        for form in (*entry.forms, *here[key].forms):
            assert set(gaps(form)) == set(gaps(entry.forms[0])), key
            assert form.strip(" ;") or key == "chart.and_then"


@pytest.mark.parametrize("path", sorted(LOCALE.rglob("*.po")), ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_what_is_compiled_is_what_translators_wrote(path):
    with path.open("rb") as written:
        found = read_po(written, locale=path.parts[-3])
    assert not found.fuzzy
    compiled = BytesIO()
    write_mo(compiled, found)
    assert path.with_suffix(".mo").read_bytes() == compiled.getvalue(), "run make messages"


def test_a_count_decides_the_form():
    english, japanese = Words("en"), Words("ja")
    assert [english("area.cells", cells=number) for number in (0, 1, 2)] == ["0 cells", "1 cell", "2 cells"]
    assert japanese("area.cells", cells=1) == "1セル"
    assert english("command.chain_whole", path="l.db", rows=1, head="x") == "The ledger l.db is whole: 1 row, head x."


def test_no_counted_thing_is_in_the_plural_of_one():
    """A whole number before a plural chooses the form; what is left is said of numbers that are never 1."""
    left = {key for key, entry in catalogue("en").items() if not entry.counted and PLURAL.search(entry.forms[0])}
    assert left <= NEVER_ONE


def test_a_language_is_a_folder(tmp_path):
    """A third language needs no code: a copy of the package with one folder more speaks it."""
    package = tmp_path / "sudare"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    there = package / "language" / "locale" / "de" / "LC_MESSAGES"
    there.mkdir(parents=True)
    with (LOCALE / "en" / "LC_MESSAGES" / "pages.po").open("rb") as written:
        german = read_po(written, locale="de")
    german.locale = "de"
    german["area.cells"].string = ("{cells} Zelle", "{cells} Zellen")
    commands = Catalog(locale="de")
    commands.add("Print JSON for machines.", "JSON für Programme.")
    commands.add("No such option {name!r}.", "Es gibt keine Option {name!r}.")
    for name, made in (("pages", german), ("commands", commands)):
        with (there / f"{name}.mo").open("wb") as file:
            write_mo(file, made)
    code = (
        "from sudare.language import LANGUAGES, Words\n"
        "words = Words('de')\n"
        "print(LANGUAGES, words('area.cells', cells=1), words('area.cells', cells=12345), words.percent(0.125))\n"
        "from sudare.cli import main\n"
        "main(['plan', '--language', 'de', '--help'], standalone_mode=False)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert "('en', 'de', 'ja') 1 Zelle 12.345 Zellen 12,5\xa0%" in done.stdout
    assert "JSON für Programme." in done.stdout


def test_every_key_that_is_used_is_there():
    assert written() | COMPOSED <= set(catalogue("en"))


def test_no_key_is_unused():
    assert set(catalogue("en")) <= written() | COMPOSED


def test_japanese_is_japanese():
    same = {key for key, message in texts("ja").items() if message == texts("en")[key]}
    signs = {"area.square_km", "method.epsilon", "method.rho", "method_name.privelet"}
    signs |= {
        f"{family}.{name}"
        for family in ("compare", "error")
        for name in ("root_mean_square_error", "mean_absolute_error")
    }
    assert same == signs
    for key, message in texts("ja").items():
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
    assert Words("ja").label("method_name", "my_method") == "my_method"


def test_notebooks_speak_the_language_of_the_environment(monkeypatch):
    monkeypatch.delenv("SUDARE_LANGUAGE", raising=False)
    assert current_language() == Words("en")
    with choose_language("ja"):
        assert current_language() == Words("ja")
    monkeypatch.setenv("SUDARE_LANGUAGE", "ja")
    assert current_language() == Words("ja")
    monkeypatch.setenv("SUDARE_LANGUAGE", "tlh")
    assert current_language() == Words("en")
