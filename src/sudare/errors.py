"""One tree of errors. An error is facts: its class, a template, and the values in the template's gaps.

``str(error)`` is one English sentence: what was wrong, the value, what is allowed, and what to do.
`sudare.language.text` says the same in another language, from the same facts; ``error.code`` is for programs and stays
as it is. A private value is never a field: only what the caller declared (a parameter, a column name, a path) may
appear there.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import reduce
from numbers import Integral
from typing import Any, ClassVar, Self

_ABSENT = object()
# Line breaks and the signs that steer a terminal: names from files may hold them, a message is one line.
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

Translate = Callable[[str], str]
"""From an English template to that of another language, with the same fields."""


def _as_written(value: object) -> str:
    """A declared value as its owner would write it: 1/3, 0.5 and 'a.csv', not the name of a Python type."""
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    if isinstance(value, Fraction | Decimal):
        return str(value)
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        return repr(value)
    return str(int(value))


def one_line(sentence: str) -> str:
    """A sentence without the signs that would break its line or steer a terminal: they are spelt out.

    >>> print(one_line("no such column: a\\nb"))
    no such column: a\\nb
    """
    return _STEERING.sub(lambda sign: repr(sign[0])[1:-1], sentence)


def _english(template: str) -> str:
    return template


class Message:
    """Words for a reader: an English template, filled by `str.format`, and its fields.

    A field may be a message or an error itself, which is then translated with the sentence around it.

    >>> print(Message("{count:,} of {what}", count=1200, what=Message("the rows")))
    1,200 of the rows
    """

    __slots__ = ("fields", "template")

    def __init__(self, template: str, /, **fields: object) -> None:
        self.template = template
        self.fields = fields

    def said(self, translate: Translate = _english) -> str:
        """The words in the language of ``translate``."""
        shown = {name: _inside(value, translate) for name, value in self.fields.items()}
        template = translate(self.template)
        try:
            return template.format(**shown)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            # A text of another package with braces that mean nothing: never an error about an error.
            return template

    def to_json(self) -> dict[str, Any]:
        """The template and its fields as JSON; values that JSON lacks are kept as they are shown."""
        return {"template": self.template, "fields": {name: _kept(value) for name, value in self.fields.items()}}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Message:
        """What `to_json` wrote."""
        return cls(data["template"], **{name: _found(value) for name, value in data["fields"].items()})

    def __str__(self) -> str:
        return one_line(self.said())

    def __repr__(self) -> str:
        return f"Message({self.template!r}, {self.fields!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.template, self.fields) == (other.template, other.fields)

    def __hash__(self) -> int:
        return hash(self.template)


class SudareError(Exception):
    """The root of the tree: catch it to catch every user's mistake.

    ``allowed`` and ``hint`` are templates with the same fields, or messages; ``allowed`` may be a sequence of names.

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
        self.given = None if value is _ABSENT else _as_written(value)
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
        return None if self._allowed is None else self._said_allowed(_english)

    @property
    def allowed_message(self) -> Message | None:
        """What is allowed, for another error that says it too."""
        return listed(self._allowed) if isinstance(self._allowed, tuple) else self._allowed

    @property
    def hint(self) -> str | None:
        """What to do, in English."""
        return None if self._hint is None else self._said_hint(_english)

    def said(self, translate: Translate = _english) -> str:
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

    def _said_allowed(self, translate: Translate) -> str:
        if isinstance(self._allowed, Message):
            return self._allowed.said(translate)
        return ", ".join(str(_inside(each, translate)) for each in self._allowed or ())

    def _said_hint(self, translate: Translate) -> str:
        """A hint begins a sentence, also with words that stand inside of others; code (``missing="value"``) stays."""
        assert self._hint is not None  # noqa: S101 - only called where there is one
        said = self._hint.said(translate)
        word = said.split(maxsplit=1)[0].rstrip(",:;.") if said else ""
        return said[:1].upper() + said[1:] if isinstance(self._hint, Message) and word.isalpha() else said

    def to_json(self) -> dict[str, Any]:
        """The facts as JSON, with its class by code: another process or a later reader makes the error from it."""
        return {
            "class": type(self).code,
            "code": self.code,
            **self.message.to_json(),
            **({} if self.given is None else {"value": _kept(self.value, _as_written)}),
            "allowed": [*map(_kept, self._allowed)] if isinstance(self._allowed, tuple) else _kept(self._allowed),
            "hint": _kept(self._hint),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SudareError:
        """The error that `to_json` wrote; of the root's class where its own is not loaded."""
        kind = SudareError.classes.get(data["class"], SudareError)
        found = kind.__new__(kind)
        SudareError.__init__(
            found,
            Message.from_json(data),
            value=_found(data["value"]) if "value" in data else _ABSENT,
            allowed=_found(data["allowed"]),
            hint=_found(data["hint"]),
            code=data["code"],
        )
        return found

    def __str__(self) -> str:
        return one_line(self.said())

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self.args, self.__dict__)

    @classmethod
    def refuse_newer(cls, what: Message, found: object, known: int) -> None:
        """Refuse ``what`` where its format ``found`` is not one of 1 to ``known``, those that this version reads.

        >>> RecipeError.refuse_newer(Message("the recipe"), 1, 1)
        """
        number = found if type(found) is int else 0
        if not 1 <= number <= known:
            raise cls(
                "{what} was made by a newer Sudare" if number > known else "{what} names a format that is none",
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


class _Shown(str):
    """A value that was kept as JSON: its text, and how ``repr`` showed it."""

    __slots__ = ("written",)
    written: str

    def __repr__(self) -> str:
        return self.written

    def __format__(self, form: str) -> str:
        return str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _shown, (str(self), self.written)


def _shown(text: str, written: str) -> _Shown:
    found = _Shown(text)
    found.written = written
    return found


def _unpickled(kind: type[SudareError], args: tuple[str, ...], state: dict[str, Any]) -> SudareError:
    found = kind.__new__(kind, *args)
    found.args = args
    found.__dict__.update(state)
    return found


def _inside(value: object, translate: Translate) -> object:
    """A field as it stands in a sentence: one that ends another has its own full stop."""
    if isinstance(value, Message):
        return value.said(translate)
    if isinstance(value, SudareError):
        return value.said(translate).removesuffix(translate(_SENTENCE).format(sentence=""))
    return value


def _kept(value: object, written: Callable[[object], str] = repr) -> Any:
    """A value as JSON."""
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, Message | SudareError):
        return value.to_json()
    if isinstance(value, Integral | float):
        return int(value) if isinstance(value, Integral) else float(value)
    return {"text": str(value), "written": written(value)}


def _found(data: Any) -> Any:
    """The value that `_kept` wrote."""
    if isinstance(data, list):
        return [_found(each) for each in data]
    if not isinstance(data, dict):
        return data
    if "class" in data:
        return SudareError.from_json(data)
    return Message.from_json(data) if "template" in data else _shown(data["text"], data["written"])


class ParameterError(SudareError, ValueError):
    """An argument is outside what the function can mean."""

    code = "parameter"


class DomainError(SudareError, ValueError):
    """A domain cannot be built as declared, or a value lies outside it."""

    code = "domain"


class TableError(SudareError, ValueError):
    """A count table is not one: negative, fractional, duplicate or misplaced counts."""

    code = "table"


class InputError(SudareError):
    """A file, a column or a type is not what was announced."""

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
    """A promise that will be kept and is worth little: said, and not refused."""

    code = "privacy_warning"


class LedgerWarning(PrivacyWarning):
    """What a steward should hear about the ledger: a new one begins, the clock went back."""

    code = "ledger_warning"


def did_you_mean(word: str, known: Iterable[str]) -> Message | None:
    """A hint that names the known word nearest to ``word``, or None.

    >>> print(did_you_mean("epsilo", ["epsilon", "delta"]))
    Did you mean 'epsilon'?
    """
    near = get_close_matches(word, list(known), n=1)
    return Message("Did you mean {name!r}?", name=near[0]) if near else None


def either(names: Iterable[object]) -> Message:
    """Names of which one is to be chosen.

    >>> print(either(["noisy", "public"]))
    noisy or public
    """
    return _joined(lambda names, last: Message("{names} or {last}", names=names, last=last), names)


def together(names: Iterable[object]) -> Message:
    """Names that all belong to it.

    >>> print(together(["epsilon", "delta"]))
    epsilon and delta
    """
    return _joined(lambda names, last: Message("{names} and {last}", names=names, last=last), names)


def listed(names: Iterable[object]) -> Message:
    """Names or messages one after another.

    >>> print(listed(["sex", Message("the attribute {name}", name="age")]))
    sex, the attribute age
    """
    return _joined(lambda names, last: Message("{names}, {last}", names=names, last=last), names)


def _joined(joined: Callable[[object, object], Message], names: Iterable[object]) -> Message:
    found = reduce(joined, names)
    return found if isinstance(found, Message) else Message("{name}", name=found)


def system_reason(problem: OSError) -> Message:
    """Why the operating system refused.

    >>> print(system_reason(FileNotFoundError(errno.ENOENT, "whatever the system calls it")))
    No such file or directory
    """
    return _SYSTEM.get(problem.errno or 0) or Message("{reason}", reason=problem.strerror or type(problem).__name__)


_SYSTEM = {
    errno.EACCES: Message("Permission denied"),
    errno.EPERM: Message("Operation not permitted"),
    errno.ENOENT: Message("No such file or directory"),
    errno.EEXIST: Message("File exists"),
    errno.ENOTDIR: Message("Not a directory"),
    errno.EISDIR: Message("Is a directory"),
    errno.ENOTEMPTY: Message("Directory not empty"),
    errno.ENOSPC: Message("No space left on device"),
    errno.EDQUOT: Message("Disk quota exceeded"),
    errno.EROFS: Message("Read-only file system"),
    errno.ENAMETOOLONG: Message("File name too long"),
    errno.EFBIG: Message("File too large"),
    errno.EIO: Message("Input/output error"),
    errno.EMFILE: Message("Too many open files"),
    errno.ELOOP: Message("Too many levels of symbolic links"),
    errno.EBUSY: Message("Device or resource busy"),
    errno.EINVAL: Message("Invalid argument"),
    errno.ENOMEM: Message("Cannot allocate memory"),
    errno.EADDRINUSE: Message("Address already in use"),
    errno.EADDRNOTAVAIL: Message("Cannot assign requested address"),
    errno.ECONNREFUSED: Message("Connection refused"),
}
"""The reasons that users meet, by the number of the error: systems word them in their own ways."""
