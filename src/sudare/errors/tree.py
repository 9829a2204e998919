"""The tree of errors: each class has a code that does not change, and is also what a Python programmer would catch."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar, Self

from sudare.errors.message import (
    Message,
    Translatable,
    Translate,
    as_written,
    english,
    inside,
    listed,
    one_line,
    system_reason,
)

_ABSENT = object()


class SudareError(Translatable, Exception):
    """The root of the tree: catch it to catch every user's mistake.

    ``allowed`` and ``hint`` are templates with the same fields, or messages; ``allowed`` may be a sequence of names.

    >>> from sudare.errors import ParameterError
    >>> problem = ParameterError("{name} is not positive", value=-1, allowed="a finite number > 0", name="epsilon")
    >>> print(problem)
    epsilon is not positive (got -1; allowed: a finite number > 0)
    >>> problem.code, problem.template, problem.fields
    ('parameter', '{name} is not positive', {'name': 'epsilon'})
    """

    code: str = "error"
    """What kind of mistake it is, for programs: one word for each class, which does not change."""
    classes: ClassVar[dict[str, type[SudareError]]] = {}
    """Every class of the tree by its code."""

    message: Message
    """What was wrong."""
    value: Any
    """The value that was refused, or None."""
    given: str | None
    """The value as its owner would write it."""

    def __init__(
        self,
        template: str | Message,
        /,
        *,
        value: object = _ABSENT,
        allowed: str | Message | Iterable[object] | None = None,
        hint: str | Message | SudareError | None = None,
        code: str | None = None,
        **fields: object,
    ) -> None:
        self.message = template if isinstance(template, Message) else Message(template, **fields)
        self.value = None if value is _ABSENT else value
        self.given = None if value is _ABSENT else as_written(value)
        if isinstance(allowed, str):
            allowed = Message(allowed, **fields)
        self._allowed = allowed if allowed is None or isinstance(allowed, Message) else tuple(allowed)
        self._hint = Message(hint, **fields) if isinstance(hint, str) else hint
        if code is not None:
            self.code = code
        super().__init__(str(self))

    def __init_subclass__(cls) -> None:
        """Note the class under its code."""
        if "code" in cls.__dict__:
            SudareError.classes[cls.code] = cls

    @property
    def template(self) -> str:
        """The English template of what was wrong."""
        return self.message.template

    @property
    def fields(self) -> dict[str, object]:
        """The values in the gaps of the template."""
        return self.message.fields

    @property
    def what(self) -> str:
        """What was wrong, in English."""
        return self.message.said()

    @property
    def allowed(self) -> str | None:
        """What is allowed, in English."""
        return None if self._allowed is None else self._said_allowed(english)

    @property
    def allowed_message(self) -> Message | None:
        """What is allowed, for another error that says it too."""
        return listed(self._allowed) if isinstance(self._allowed, tuple) else self._allowed

    @property
    def hint(self) -> str | None:
        """What to do, in English."""
        return None if self._hint is None else self._said_hint(english)

    def said(self, translate: Translate = english) -> str:
        """The whole sentence in the language of ``translate``."""
        sentence = self.message.said(translate)
        parts = {} if self.given is None else {"given": self.given}
        if self._allowed is not None:
            parts["allowed"] = self._said_allowed(translate)
        if parts:
            details = translate(_DETAILS[tuple(parts)]).format(**parts)
            sentence = translate(_DETAILED).format(sentence=sentence, details=details)
        if self._hint is None:
            return translate(_SENTENCE).format(sentence=sentence)
        form = translate(_ADVISED)
        stop = form.format(sentence="", hint="").strip()
        return form.format(sentence=sentence.removesuffix(stop), hint=self._said_hint(translate))

    def inside(self, translate: Translate) -> str:
        """The sentence without its full stop, where the language ends one: the sentence around it has its own."""
        return self.said(translate).removesuffix(translate(_SENTENCE).format(sentence=""))

    def _said_allowed(self, translate: Translate) -> str:
        if isinstance(self._allowed, Message):
            return self._allowed.said(translate)
        return ", ".join(str(inside(each, translate)) for each in self._allowed or ())

    def _said_hint(self, translate: Translate) -> str:
        """A hint begins a sentence, also with words that stand inside of others; code (``missing="value"``) stays."""
        assert self._hint is not None  # noqa: S101 - only called where there is one
        said = self._hint.said(translate)
        word = said.split(maxsplit=1)[0].rstrip(",:;.") if said else ""
        return said[:1].upper() + said[1:] if isinstance(self._hint, Message) and word.isalpha() else said

    @classmethod
    @contextmanager
    def from_system(cls, template: str, /, **facts: Any) -> Iterator[None]:
        """What the operating system refuses inside of the block as an error of this class: ``{reason}`` says why.

        >>> from sudare.errors import InputError
        >>> with InputError.from_system("the file cannot be read: {reason}", value="ages.csv"):
        ...     open("no such file")
        Traceback (most recent call last):
        sudare.errors.InputError: the file cannot be read: No such file or directory (got 'ages.csv')
        """
        try:
            yield
        except SudareError:  # some of them are an OSError too
            raise
        except OSError as problem:
            raise cls(template, reason=system_reason(problem), **facts) from None

    def __str__(self) -> str:
        return one_line(self.said())

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self.args, self.__dict__)

    @classmethod
    def refuse_newer(cls, what: Message, found: object, known: int) -> None:
        """Refuse ``what`` where its format ``found`` is not one of 1 to ``known``, those that this version reads.

        >>> SudareError.refuse_newer(Message("the recipe"), 1, 1)
        """
        number = found if type(found) is int else 0
        if not 1 <= number <= known:
            raise cls(
                "{what} was made by a newer Sudare" if number > known else "{what} names an unknown format",
                value=found,
                allowed="formats up to {known}, which Sudare {version} reads",
                what=what,
                known=known,
                version=sys.modules["sudare"].__version__,  # not imported: this is the lowest layer
            )


_SENTENCE = Message("{sentence}").template
_DETAILED = Message("{sentence} ({details})").template
_ADVISED = Message("{sentence}. {hint}").template
_DETAILS = {
    ("given",): Message("got {given}").template,
    ("allowed",): Message("allowed: {allowed}").template,
    ("given", "allowed"): Message("got {given}; allowed: {allowed}").template,
}
"""How the parts of an error make a sentence. Here it has no full stop at its end; another language may add one."""


def _unpickled(kind: type[SudareError], args: tuple[str, ...], state: dict[str, Any]) -> SudareError:
    found = kind.__new__(kind, *args)
    found.args = args
    found.__dict__.update(state)
    return found


class ParameterError(SudareError, ValueError):
    """An argument is outside what the function can mean."""

    code = "parameter"


class DomainError(SudareError, ValueError):
    """A domain cannot be built as declared, or a value lies outside it."""

    code = "domain"


class TableError(SudareError, ValueError):
    """Counts that cannot make a count table: negative, fractional, duplicate or misplaced ones."""

    code = "table"


class InputError(SudareError):
    """A file, a column or a type is not what was declared or expected."""

    code = "input"


class MissingColumnError(InputError, KeyError):
    """The data have no column of that name."""

    code = "missing_column"


class MissingFileError(InputError, FileNotFoundError):
    """There is no file or folder of that name."""

    code = "missing_file"


class MissingExtraError(SudareError, ImportError):
    """What was asked for needs an optional part of the installation.

    >>> print(MissingExtraError.of(Message("Spark"), "spark"))
    Spark is not installed here. Run: pip install 'sudare[spark]'
    """

    code = "missing_extra"

    @classmethod
    def of(cls, what: Message, extra: str) -> Self:
        """The refusal that names the extra to install."""
        return cls("{what} is not installed here", hint="Run: pip install 'sudare[{extra}]'", what=what, extra=extra)

    @classmethod
    def load(cls, module: str, what: Message, extra: str) -> Any:
        """The module of that name, or the refusal that says how to install it."""
        try:
            return import_module(module)
        except ImportError:
            raise cls.of(what, extra) from None


class RecipeError(SudareError, ValueError):
    """A recipe cannot be understood."""

    code = "recipe"


class MissingRecipeError(RecipeError, FileNotFoundError):
    """There is no recipe of that name."""

    code = "missing_recipe"

    def __new__(cls, *_: object, **__: object) -> Self:
        """An OSError keeps more than a ValueError does: Python does not choose between the two by itself."""
        return OSError.__new__(cls)


class BudgetError(SudareError):
    """The ledger refuses: the data set's cap would be passed."""

    code = "budget"


class LedgerError(SudareError):
    """The ledger cannot be read, written or trusted."""

    code = "ledger"


class OutputError(SudareError):
    """A release cannot be written."""

    code = "output"


class PaidError(SudareError):
    """A release that the ledger has paid for is not out, whatever ended its run; it waits to be completed.

    >>> print(PaidError.of("20260401-5f2c", Message("the run was interrupted"), can_resume=False))
    release 20260401-5f2c was paid for and is not out: the run was interrupted. It cannot be completed; to pay for \
another one: sudare publish RECIPE --anew
    """

    code = "paid"

    @classmethod
    def of(cls, release_id: str, reason: Message | SudareError, *, can_resume: bool) -> Self:
        """The refusal that names the release."""
        return cls(
            "release {release_id} was paid for and is not out: {reason}",
            hint="To complete it: sudare publish RECIPE --resume; to pay for another one instead: --anew"
            if can_resume
            else "It cannot be completed; to pay for another one: sudare publish RECIPE --anew",
            release_id=release_id,
            reason=reason,
        )


class CapacityError(SudareError, MemoryError):
    """The machine has too little memory or disk for what was asked."""

    code = "capacity"

    def __new__(cls, *_: object, **__: object) -> Self:
        """As an error of its own: Python keeps a MemoryError in reserve, which cannot be told apart."""
        return Exception.__new__(cls)


class VerificationError(SudareError):
    """A certificate and its files do not agree."""

    code = "verification"


class AccountingError(SudareError):
    """The measurements cost something else than the guarantee says: a defect, never a user's mistake."""

    code = "accounting"


class NoCapError(BudgetError):
    """A data set that may not be spent on yet: nobody has set its cap."""

    code = "no_cap"


class PrivacyWarning(SudareError, UserWarning):  # noqa: N818 - it is a warning
    """A guarantee that will hold but protects little: a warning, not a refusal."""

    code = "privacy_warning"


class LedgerWarning(PrivacyWarning):
    """What a steward should hear about the ledger: a new one begins, the clock went back."""

    code = "ledger_warning"
