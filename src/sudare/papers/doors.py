"""What each paper offers, and through which doors it is reached: Python, a recipe, the command line, the studio.

Names of methods, and reasons why a door is missing, are texts of the catalogue of pages (``paper.door.KEY`` and
``paper.door_why.REASON``). A test opens every door: the name can be imported, the key is one of the recipe, the command
has the option, and the studio's page has the field.
"""

from __future__ import annotations

from dataclasses import dataclass

from sudare.language.catalogue import Words
from sudare.papers.catalogue import PAPERS, Paper


@dataclass(frozen=True)
class Door:
    """A method of the paper ``paper``: ``python`` as it is called, ``recipe`` the kind and key (or the survey of
    `sudare collect`), ``command``, and ``studio``, the key that a field of its page changes; None where there is none.

    The text of the whole recipe can be edited in the studio as well, so a recipe's key is within its reach even where
    no field is.
    """

    paper: str
    key: str
    python: str
    recipe: tuple[str, str] | None = None
    command: str | None = "sudare publish"
    studio: str | None = None
    why: str | None = None
    """The reason where a door is missing."""

    @property
    def complete(self) -> bool:
        """Whether it is reached through all doors."""
        return None not in (self.recipe, self.command, self.studio)

    def row(self, words: Words) -> tuple[str, ...]:
        """Its name, the four doors, and why one is missing."""
        recipe = "" if self.recipe is None else f"{self.recipe[0]}: {self.recipe[1]}"
        why = "" if self.why is None else words(f"paper.door_why.{self.why}")
        return words(f"paper.door.{self.key}"), self.python, recipe, self.command or "", self.studio or "", why


def _recipe(paper: str, key: str, python: str, kind: str, path: str, field: str | None = None) -> Door:
    """Through all doors; the studio's field may be a part of the recipe's key."""
    return Door(paper, key, python, (kind, path), studio=field or path)


def _reader(key: str, python: str, option: str) -> Door:
    """What the reader of a release does."""
    return Door("mixture", key, f"sd.reconstruct.{python}", command=f"sudare reconstruct {option}", why="reader")


_NAME, _WEIGHTS = ("table", "method.name"), "weights"
DOORS = (
    _recipe("sparse-l2", "negative_l2", "sd.NegativeL2()", *_NAME),
    _recipe("sparse-l2", "simplex", "sd.Simplex()", *_NAME),
    _recipe("sparse-l2", "nonnegative_lasso", "sd.NonnegativeLasso()", *_NAME),
    _recipe(
        "sparse-l2", "reference", "sd.tables.from_reference()", "table", "method.reference", "method.reference.path"
    ),
    _recipe("sparse-l2", "sparsity", "sd.tables.target_sparsity()", "table", "method.sparsity"),
    Door("sparse-l2", "dc", "sudare.papers.contest.dc_iteration()", command="sudare reproduce sparse-l2", why="dc"),
    _recipe("top-down", "top_down", "sd.TopDown()", *_NAME),
    Door("top-down", "serial", "sd.TopDown(serial=True)", ("table", "method.serial"), why="serial"),
    _recipe("top-down", "privelet", "sd.Privelet()", "table", "method.decomposition"),
    _recipe("top-down", "scale", 'sd.Privelet(scale="original")', "table", "method.scale"),
    Door("top-down", "cut", "sd.Laplace(cut=40)", ("table", "method.cut"), why="cut"),
    Door("top-down", "rivals", "sudare.papers.rivals.hay()", command="sudare reproduce top-down", why="rivals"),
    _recipe(
        "ulsif", "public_centres", 'sd.reweight.fit(basis="kernel", estimator="ulsif")', _WEIGHTS, "weights.estimator"
    ),
    _recipe("ulsif", "noisy_centres", 'sd.reweight.fit(centres="noisy")', _WEIGHTS, "weights.centres"),
    _recipe("ulsif", "raw_centres", 'sd.reweight.fit(centres="raw")', _WEIGHTS, "weights.centres"),
    _recipe("ulsif", "parametric", 'sd.reweight.fit(basis="fourier")', _WEIGHTS, "weights.basis"),
    _recipe("ulsif", "importance", 'sd.reweight.fit(estimator="importance")', _WEIGHTS, "weights.estimator"),
    Door("ulsif", "without_privacy", "sd.reweight.ulsif()", command="sudare reproduce ulsif", why="without_privacy"),
    _recipe("k-anonymity", "greedy", 'sd.anonymity.anonymize(method="greedy")', "sample", "sample.method"),
    _recipe("k-anonymity", "rate", "sd.anonymity.anonymize(sample=0.2)", "sample", "sample.rate"),
    Door("k-anonymity", "evaluated", "sd.anonymity.evaluated_epsilon()", why="evaluated"),
    Door(
        "k-anonymity",
        "printed",
        "sd.anonymity.class_epsilons(printed=True)",
        None,
        "sudare reproduce k-anonymity",
        why="printed",
    ),
    Door(
        "rappor-em",
        "reports",
        "sd.local.SymmetricUnary()",
        ("survey", "privacy.encoding"),
        "sudare collect serve",
        why="reports",
    ),
    Door(
        "rappor-em",
        "mle",
        'sd.local.estimate(method="mle")',
        ("survey", "estimate.method"),
        "sudare estimate --method mle",
        why="reports",
    ),
    Door("rappor-em", "em", 'sd.local.estimate(method="em")', command="sudare estimate --method em", why="collector"),
    _recipe("mixture", "perturb", "sd.reconstruct.perturb(k=2)", "perturbation", "perturbation.noise"),
    _reader("ibt", "iterative_bayes()", "--method ibt"),
    _reader("mixture", "Mixture()", "--method mixture"),
    _reader("gradient", 'Mixture(method="gradient")', "--fit gradient"),
    _reader("pca", 'Mixture(covariance="pca")', "--covariance pca"),
    _reader("cross", "Mixture.cross_table()", "--cross"),
    _reader("clusters", "Mixture.predict()", "--clusters"),
)


def header(words: Words) -> tuple[str, ...]:
    """Of a table of doors."""
    method, *others = (words(f"paper.doors.{name}") for name in ("method", "recipe", "command", "studio", "why"))
    return method, "Python", *others


def doors_of(paper: Paper) -> tuple[Door, ...]:
    """What the paper offers."""
    return tuple(door for door in DOORS if door.paper == paper.key)


def markdown(words: Words) -> str:
    """A page of the documentation: a table for each paper."""
    parts = [f"# {words('paper.doors')}", "", words("paper.doors_text"), ""]
    for paper in PAPERS:
        top = header(words)
        parts += [f"## {paper.text('title', words)}", "", f"{paper.text('authors', words)}{paper.dated}.", ""]
        parts += ["| " + " | ".join(top) + " |", "| " + " | ".join(["---"] * len(top)) + " |"]
        for door in doors_of(paper):
            name, *codes, why = door.row(words)
            cells = [name, *(f"`{code}`" if code else "" for code in codes), why]
            parts.append("| " + " | ".join(cells) + " |")
        parts.append("")
    return "\n".join(parts)
