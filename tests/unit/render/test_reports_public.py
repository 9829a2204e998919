"""The public report: loads nothing, shows nothing true, says every guarantee in both languages."""

import datetime
import re
from fractions import Fraction

import numpy as np
import pytest

import sudare as sd
from sudare.errors import ParameterError
from sudare.language.catalogue import Words
from sudare.privacy import Guarantee, Unit
from sudare.privacy.guarantee import ADJACENCIES
from sudare.render.reports import Cover, public_page
from sudare.render.sections import Chart, Facts, Section, Text
from sudare.tables.comparison import comparison_sections
from sudare.tables.pages import table_sections

NOW = datetime.datetime(2026, 7, 5, 9, 41, tzinfo=datetime.UTC)
HALF = Guarantee("epsilon-DP", Unit("person"), epsilon=Fraction(1, 2), public=("the domain",))
DOMAINS = {
    "mesh by sex": sd.Domain(
        mesh=sd.Mesh("500m", rows=(8480, 8496), columns=(6300, 6316)), sex=sd.Categories(["f</script>", "m"])
    ),
    "grid in blocks": sd.Domain(cell=sd.Grid(300, 300)),
    "line": sd.Domain(cell=sd.Line(1000)),
    "categories and bins": sd.Domain(town=sd.Categories(["A", "B"]), age=sd.Bins(0, 100, step=5)),
    "two meshes": sd.Domain(home=sd.Mesh("10km", codes=["5339"]), work=sd.Mesh("10km", codes=["5339"])),
    "one cell": sd.Domain(cell=sd.Line(1)),
}


def cover(guarantee=HALF, **more):
    return Cover("Village", "village", NOW, guarantee, **more)


def made(domain, method=None, people=60):
    generator = np.random.default_rng(1)
    index = domain.cells(np.unique(generator.integers(0, domain.size, people))) if people else []
    return sd.release(sd.CountTable(domain, index, generator.integers(1, 500, len(index))), method, 1, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("name", DOMAINS)
def test_every_domain_has_a_page_that_loads_nothing(read, name, language):
    words = Words(language)
    page = public_page(cover(), table_sections(made(DOMAINS[name], sd.Simplex()), words), words)
    found = read(page)
    assert found.loads() == []
    assert [given for tag, given in found.tags if tag == "html"] == [{"lang": language}]
    assert "{" not in found.words
    # The libraries name addresses (of SVG, of their documentation); nothing else on the page does.
    before, _, after = page.partition('<script type="module">')
    assert "http" not in (before + after.partition("</script>")[2]).replace("http-equiv", "")


def test_the_browser_is_told_to_load_nothing(read):
    policies = [
        given["content"] for tag, given in read(public_page(cover(), [], Words())).tags if "http-equiv" in given
    ]
    assert policies == [
        "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
    ]


def test_a_section_with_true_values_is_refused():
    release = made(DOMAINS["line"])
    for section in comparison_sections(release.table, release.table):
        with pytest.raises(ParameterError, match="a section with true values has no place in a public report"):
            public_page(cover(), [section], Words())


def test_the_page_is_the_same_for_all_truths_that_gave_the_same_release():
    domain = DOMAINS["mesh by sex"]
    with sd.noise.record() as tape:
        first = sd.release(sd.CountTable(domain, [0, 5, 9], [40, 30, 20]), sd.Simplex(), 1)
    with sd.noise.record(replay=tape):
        second = sd.release(sd.CountTable(domain, [0, 5, 9], [40, 29, 20]), sd.Simplex(), 1)
    pages = [public_page(cover(), table_sections(release, Words()), Words()) for release in (first, second)]
    assert pages[0] == pages[1]


NOTIONS = {
    "epsilon": HALF,
    "replaced": Guarantee("epsilon-DP", Unit(), ADJACENCIES[1], epsilon=1, public=("the total is public",)),
    "per day": Guarantee("epsilon-DP", Unit("person", 3, "day"), epsilon=1),
    "delta": Guarantee("(epsilon, delta)-DP", Unit("person"), epsilon=1, delta=Fraction(1, 10**6)),
    "delta, replaced": Guarantee("(epsilon, delta)-DP", Unit("person"), ADJACENCIES[1], epsilon=1, delta=0.001),
    "rho": Guarantee("rho-zCDP", Unit("household"), rho=Fraction(1, 50)),
    "rho, replaced": Guarantee("rho-zCDP", Unit("person"), ADJACENCIES[1], rho=Fraction(1, 50)),
    "local": Guarantee("epsilon-LDP", Unit("device"), ADJACENCIES[1], epsilon=2, public=("who reports",)),
    "Pk": Guarantee("Pk-anonymity", Unit("person"), epsilon=Fraction(52, 10)),
    "k": Guarantee("k-anonymity", Unit("person"), assumptions=("nobody knows more of a person than age",)),
    "seeded": HALF.without_protection(),
    "none": HALF.without_protection("none"),
}


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("name", NOTIONS)
def test_every_guarantee_is_said_in_full(read, name, language):
    found = read(public_page(cover(NOTIONS[name]), [], Words(language)))
    assert "{" not in found.words
    assert Words(language)("guarantee.title") in found.words
    protects = NOTIONS[name].holds
    assert (Words(language)("prevented.title") in found.words) == protects
    assert (Words(language)("possible.title") in found.words) == protects


def test_the_odds_behind_epsilon_are_exact_and_rounded_to_the_safe_side(read):
    rows = read(public_page(cover(), [], Words())).rows
    # Presence: e^0.5 = 1.6487; exchanging a person for another costs e^1 = 2.7183.
    assert ["50 %", "37.7 % to 62.3 %", "26.8 % to 73.2 %"] in rows
    assert ["10 %", "6.31 % to 15.5 %", "3.92 % to 23.2 %"] in rows


def test_where_the_total_is_public_presence_is_not_said_to_be_hidden(read):
    found = read(public_page(cover(NOTIONS["replaced"]), [], Words()))
    assert ["50 %", "26.8 % to 73.2 %"] in found.rows
    assert "is in the data, or what" not in found.words
    assert "Know that somebody is in the data at all: that is not hidden." in found.words


def test_files_and_proof_are_named(read):
    proof = {"SHA-256 of release.json": "ab" * 32}
    found = read(public_page(cover(files=(("table.csv", "csv", 1234),), proof=proof), [], Words()))
    assert ["table.csv", "csv", "1.23 kB"] in found.rows
    assert "ab" * 32 in found.words


def test_a_collection_without_a_certificate_has_a_page(read):
    found = read(public_page(cover(NOTIONS["local"]), [Section("Answers", (Facts({"reports": "7"}),))], Words()))
    assert "Check it yourself" not in found.words
    assert "reports 7" in found.words


def test_texts_are_escaped(read):
    nasty = "<img src=x onerror=alert(1)>"
    sections = [Section(nasty, (Text.of(nasty), Facts({nasty: nasty})))]
    found = read(public_page(Cover(nasty, nasty, NOW, HALF), sections, Words()))
    assert found.loads() == []
    assert found.words.count("<img src=x") == 7


def test_two_charts_of_one_name_are_refused():
    chart = next(part for part in table_sections(made(DOMAINS["line"]), Words())[1].parts if isinstance(part, Chart))
    sections = [Section("a", (chart,)), Section("b", (chart,))]
    with pytest.raises(ParameterError, match=r"two charts of a page have one name \(got 'released'\)"):
        public_page(cover(), sections, Words())


def test_chapters_come_in_the_order_in_which_people_ask():
    sections = table_sections(made(DOMAINS["mesh by sex"]), Words())
    page = public_page(cover(), sections[::-1], Words())
    titles = re.findall(r"<h2>(.*?)</h2>", page.partition("<footer>")[0])
    assert titles == [
        "Map of the release",
        "What was released",
        "What protects the people in the data",
        "What is public anyway, and what this rests on",
        "How far to trust a number",
        "Method and parameters",
    ]


def test_an_empty_release_has_a_page(read):
    found = read(public_page(cover(), table_sections(made(DOMAINS["line"], sd.Simplex(), people=0), Words()), Words()))
    assert found.loads() == []
