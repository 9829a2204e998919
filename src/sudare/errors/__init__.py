"""One tree of errors. An error is facts: its class, a template, and the values in the template's gaps.

``str(error)`` is one English sentence: what was wrong, the value, what is allowed, and what to do.
`sudare.language.text` says the same in another language, from the same facts; ``error.code`` is for programs and stays
as it is. A private value is never a field: only what the caller declared (a parameter, a column name, a path) may
appear there.
"""

from sudare.errors.message import Message, Translate, did_you_mean, either, listed, one_line, system_reason, together
from sudare.errors.tree import (
    AccountingError,
    BudgetError,
    CapacityError,
    DomainError,
    InputError,
    LedgerError,
    LedgerWarning,
    MissingColumnError,
    MissingExtraError,
    MissingFileError,
    MissingRecipeError,
    NoCapError,
    OutputError,
    PaidError,
    ParameterError,
    PrivacyWarning,
    RecipeError,
    SudareError,
    TableError,
    VerificationError,
)

__all__ = [
    "AccountingError",
    "BudgetError",
    "CapacityError",
    "DomainError",
    "InputError",
    "LedgerError",
    "LedgerWarning",
    "Message",
    "MissingColumnError",
    "MissingExtraError",
    "MissingFileError",
    "MissingRecipeError",
    "NoCapError",
    "OutputError",
    "PaidError",
    "ParameterError",
    "PrivacyWarning",
    "RecipeError",
    "SudareError",
    "TableError",
    "Translate",
    "VerificationError",
    "did_you_mean",
    "either",
    "listed",
    "one_line",
    "system_reason",
    "together",
]

for _error in (SudareError, *SudareError.classes.values()):
    _error.__module__ = __name__  # where a traceback and a pickle name it: the files below may be cut differently
