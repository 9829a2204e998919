"""A message: an English template and the values of its fields, which a catalogue can say in another language."""

from __future__ import annotations

import errno
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from numbers import Integral

# Line breaks and the signs that steer a terminal: names from files may hold them, a message is one line.
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

Translate = Callable[[str], str]
"""From an English template to that of another language, with the same fields."""


def as_written(value: object) -> str:
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


def english(template: str) -> str:
    """English: every template as the code has it."""
    return template


class Translatable(ABC):
    """What can be said in every language: a message or an error."""

    __slots__ = ()

    @abstractmethod
    def said(self, translate: Translate = english) -> str:
        """The words in the language of ``translate``."""

    def inside(self, translate: Translate) -> str:
        """The words as they stand inside of another sentence."""
        return self.said(translate)


class Message(Translatable):
    """Words for a reader: an English template, filled by `str.format`, and its fields.

    A field may be a message or an error itself, which is then translated with the sentence around it.

    >>> print(Message("{count:,} of {what}", count=1200, what=Message("the rows")))
    1,200 of the rows
    """

    __slots__ = ("fields", "template")

    def __init__(self, template: str, /, **fields: object) -> None:
        self.template = template
        self.fields = fields

    def said(self, translate: Translate = english) -> str:
        """The words in the language of ``translate``."""
        shown = {name: inside(value, translate) for name, value in self.fields.items()}
        template = translate(self.template)
        try:
            return template.format(**shown)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            # A text of another package with braces that mean nothing: never an error about an error.
            return template

    def __str__(self) -> str:
        return one_line(self.said())

    def __repr__(self) -> str:
        return f"Message({self.template!r}, {self.fields!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.template, self.fields) == (other.template, other.fields)

    def __hash__(self) -> int:
        return hash(self.template)


def inside(value: object, translate: Translate) -> object:
    """A field as it stands in a sentence."""
    return value.inside(translate) if isinstance(value, Translatable) else value


def did_you_mean(word: str, known: Iterable[str]) -> Message | None:
    """A hint that names the known word nearest to ``word``, or None.

    >>> print(did_you_mean("epsilo", ["epsilon", "delta"]))
    Did you mean 'epsilon'?
    """
    from difflib import get_close_matches

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
