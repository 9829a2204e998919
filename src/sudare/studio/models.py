"""The answers of the studio's JSON addresses, for its own page and for readers of the OpenAPI description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from sudare.engines.csv_files import Proposal


class Answer(BaseModel):
    """An answer: every field is in it, also those that have a default."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class ErrorParts(Answer):
    """What was wrong, the value, what is allowed, what to do; ``message`` is all of it in the reader's language.

    ``place`` holds the names that lead to the value in the recipe, where the error is about one.
    """

    what: str
    value: str | None
    allowed: str | None
    hint: str | None
    message: str
    place: list[str] = []


class Refusal(Answer):
    """The body of every answer from 400 on."""

    error: ErrorParts


class Fact(Answer):
    """A name and its value."""

    name: str
    value: str

    @classmethod
    def listed(cls, facts: Mapping[str, str]) -> list[Fact]:
        """One for each name."""
        return [cls(name=name, value=value) for name, value in facts.items()]


class ListedVersion(Answer):
    """A version without its text; ``keys`` is what changed since the one before, such as ``privacy.epsilon = 0.5``."""

    version: int
    when: str
    change: str
    valid: bool
    keys: list[str] = []


class Look(Answer):
    """What a private look found, in words: for the steward's eyes alone."""

    internal: str
    facts: list[dict[str, str]]
    header: list[str]
    reasons: list[list[str]]
    remarks: list[str]
    good: bool


class State(Answer):
    """The recipe as it is now."""

    version: int
    versions: list[ListedVersion]
    valid: bool
    problem: ErrorParts | None
    text: str
    recipe: dict[str, Any] | None
    effective: dict[str, Any] | None
    kind: str
    kinds: list[str]
    dataset: str | None
    language: str
    file_name: str
    can_undo: bool
    can_redo: bool


class FileFacts(Answer):
    """A file of the workspace."""

    name: str
    bytes: int


class ColumnFacts(Answer):
    """A column: never a value of it."""

    name: str
    type: str


class Suggestions(Answer):
    """What columns could become, from their names and types."""

    unit: str | None
    mesh: list[str] | None
    attributes: dict[str, list[str]]


class DataPage(Answer):
    """Files of the workspace, and the columns of one."""

    files: list[FileFacts]
    file: str | None
    table: str | None
    tables: list[str]
    columns: list[ColumnFacts]
    suggestions: Suggestions
    mesh_levels: list[str]
    withheld: bool
    """Whether names are not shown because the first line may be a person's."""
    proposal: Proposal | None
    problem: ErrorParts | None


class Bounds(Answer):
    """Degrees."""

    south: float
    west: float
    north: float
    east: float


class Window(Answer):
    """A window of a mesh: half-open rows and columns."""

    level: str
    rows: tuple[int, int]
    columns: tuple[int, int]
    cells: int
    bounds: Bounds


class TableOfTexts(Answer):
    """A small table in words."""

    caption: str
    header: list[str]
    rows: list[list[str]]


class Promise(Answer):
    """A guarantee in words."""

    headline: str
    paragraphs: list[str] = []
    odds: TableOfTexts | None = None


class BudgetOutlook(Answer):
    """A data set's account, before and after."""

    cap: str | None
    left: str | None
    cost: str
    after: str | None
    enough: bool
    spent_share: float | None
    after_share: float | None


Ends = tuple[float | None, float | None]


class AreaError(Answer):
    """Expected error in areas of one size, from the best to the worst scenario: one number twice where there is one.

    ``with_people`` and ``empty`` are root mean squares over areas with people and without; ``people`` is what an area
    with people holds on average, ``relative`` what the error of nine of ten of them keeps to, as a share of it.
    """

    cells: int
    areas: int
    square_km: float | None
    with_people: Ends
    empty: Ends
    people: Ends
    relative: Ends


class Area(Answer):
    """A size of area."""

    cells: float
    square_km: float | None
    relative: float


class SliderRange(Answer):
    """Which key of the recipe the slider sets."""

    path: str
    value: float
    low: float
    high: float
    symbol: str
    stops: list[float]
    """Round values, for which plans are made beforehand."""


class ProtectPage(Answer):
    """What a recipe would promise, cost and be worth. ``plan`` is null while it is being made (``pending``)."""

    valid: bool
    problem: ErrorParts | None
    pending: bool = False
    slider: SliderRange | None = None
    value: float | None = None
    plan: dict[str, Any] | None = None
    guarantee: Promise | None = None
    errors_from_shown: str | None = None
    errors_shown: list[dict[str, Any]] = []
    error_by_area: list[AreaError] = []
    smallest_area_10_percent: Area | None = None
    """Where every scenario agrees."""
    smallest_areas: tuple[Area | None, Area | None] | None = None
    """In the best and the worst scenario, where they do not agree."""
    public_tables: list[str] = []
    ledger: BudgetOutlook | None = None
    remarks: list[str] = []
    remarks_shown: list[str] = []
    remarks_about: list[str] = []
    based_on: str


class JobStatus(Answer):
    """How far a job is."""

    id: str
    verb: str
    version: int | None
    time: str
    state: str
    stage: str
    fraction: float
    error: ErrorParts | None
    result: dict[str, Any] | None
    can_cancel: bool


class RehearsalSummary(Answer):
    """A rehearsal that is kept."""

    id: str
    version: int
    kind: str
    dataset: str
    method: str | None
    cost: str
    basis: str
    repetitions: int
    accuracy: float | None


class RehearsalFound(RehearsalSummary):
    """What a rehearsal found."""

    guarantee: str
    facts: list[Fact]
    errors: list[dict[str, Any]]
    support: dict[str, int] | None
    map: bool


class RehearsePage(Answer):
    """Rehearsals that are kept, newest first, and the last job."""

    valid: bool
    problem: ErrorParts | None
    rehearsals: list[RehearsalSummary]
    job: JobStatus | None
    public_tables: list[str] = []


class ReleaseFacts(Answer):
    """A release in the workspace."""

    folder: str
    release_id: str
    dataset: str
    title: str
    created: str
    kind: str
    files: list[str]
    report: str | None


class PaidRelease(Answer):
    """A release that was paid for and is not out."""

    release_id: str
    can_resume: bool


class PublishPage(Answer):
    """What will be spent, and on what; ``confirm`` is to be typed. ``pending`` waits to go into the output folder."""

    valid: bool
    problem: ErrorParts | None
    can_publish: bool = False
    dataset: str | None = None
    confirm: str | None = None
    title: str | None = None
    output: str | None = None
    guarantee: Promise | None = None
    ledger: BudgetOutlook | None = None
    remarks: list[str] = []
    remarks_shown: list[str] = []
    remarks_about: list[str] = []
    job: JobStatus | None
    release: ReleaseFacts | None = None
    pending: PaidRelease | None = None


class DatasetBalance(Answer):
    """A data set of the ledger."""

    dataset: str
    spent_share: float | None
    releases: int
    facts: list[Fact]


class LedgerRow(Answer):
    """A row of the ledger."""

    row: int
    time: str
    when: str
    dataset: str
    kind: str
    what: str
    release_id: str | None
    amount: str
    hash: str


class LedgerPage(Answer):
    """The ledger of the recipe, newest row first, and the releases of the workspace."""

    path: str
    head: str | None = None
    balances: list[DatasetBalance] = []
    entries: list[LedgerRow] = []
    problem: ErrorParts | None = None
    releases: list[ReleaseFacts]


class Findings(Answer):
    """What was checked of a release and found right, or the first fault."""

    release: str
    ok: bool
    release_id: str | None = None
    checks: list[str] = []
    problem: ErrorParts | None = None


class SessionToken(Answer):
    """What the studio's pages send with each request."""

    session: str


class Ticket(Answer):
    """An address that works once."""

    address: str
