"""A background thread that computes answers one at a time: first those that a request waits for, then likely ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Condition, Thread
from time import monotonic
from typing import Generic, TypeVar

Made = TypeVar("Made")
KEPT = 400


class PrefetchCache(Generic[Made]):
    """Answers of ``make`` to questions that are texts, kept; ``topic`` says what a question belongs to.

    Only one topic is worth working on: asking about another drops what was still to be made for the last.

    >>> lengths = PrefetchCache(len)
    >>> lengths.get("words", "abc", patience=10)
    3
    >>> lengths.close()
    """

    def __init__(self, make: Callable[[str], Made]) -> None:
        self._make = make
        self._changed = Condition()
        self._answers: OrderedDict[tuple[str, str], Made | Exception] = OrderedDict()
        self._asked: list[str] = []
        self._later: list[str] = []
        self._topic = ""
        self._open = True
        self._thread: Thread | None = None

    def get(self, topic: str, question: str, patience: float) -> Made | None:
        """The answer; None where it is not there within ``patience`` seconds. An error is raised, and forgotten."""
        until = monotonic() + patience
        with self._changed:
            if topic != self._topic:
                self._topic = topic
                self._drop()
            if (topic, question) not in self._answers and question not in self._asked:
                self._asked.append(question)
            self._wake()
            while (topic, question) not in self._answers:
                left = until - monotonic()
                if left <= 0 or not self._changed.wait(left):
                    return None
            found = self._answers[topic, question]
            if isinstance(found, Exception):
                del self._answers[topic, question]
                raise found
            return found

    def look_ahead(self, topic: str, questions: Sequence[str]) -> None:
        """Have answers made when nothing else is waited for."""
        with self._changed:
            if topic == self._topic:
                unknown = [one for one in questions if (topic, one) not in self._answers]
                self._later += [one for one in unknown if one not in self._later]
                self._wake()

    def close(self) -> None:
        """Start no further work."""
        with self._changed:
            self._open = False
            self._drop()
            self._changed.notify_all()

    def _drop(self) -> None:
        self._asked.clear()
        self._later.clear()

    def _wake(self) -> None:
        if (self._asked or self._later) and self._thread is None and self._open:
            # A daemon: whoever stops the server does not wait for a plan that nobody will see.
            self._thread = Thread(target=self._work, name="ahead", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._asked and not self._later:
                    self._thread = None
                    return
                topic, question = self._topic, (self._asked or self._later).pop(0)
                if (topic, question) in self._answers:
                    continue
            made: Made | Exception
            try:
                made = self._make(question)
            except Exception as problem:
                made = problem
            with self._changed:
                self._answers[topic, question] = made
                while len(self._answers) > KEPT:
                    self._answers.popitem(last=False)
                self._changed.notify_all()
