"""Signals that end a run in order: as an exception in the main thread, heard at once, and never while cleaning up."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from types import FrameType
from typing import TypeVar

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_LOOK_SECONDS = 0.2
"""How often somebody who waits looks up, on systems where a signal does not wake who waits."""
_STOP_SECONDS = 0.02
"""Between two requests to stop: one that comes before the work has begun is lost."""
Result = TypeVar("Result")


class Ended(KeyboardInterrupt):
    """A signal ended the run. Like an interrupt it passes by whoever catches errors, and all that is open is closed."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@dataclass
class _Patience:
    """How many blocks may not be disturbed at this moment, the signal that waits for their end, and the last one."""

    blocks: int = 0
    waiting: int | None = None
    heard: int | None = None


_patience = _Patience()


def _end(number: int, _: FrameType | None) -> None:
    _patience.heard = number
    logging.disable()  # libraries log what they were interrupted in, with tracebacks
    if _patience.blocks:
        _patience.waiting = number
    else:
        raise Ended(number)


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Interrupts, SIGTERM and SIGHUP raise `Ended` within the block; what was ignored before (nohup) stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    known = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in known}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    _patience.heard, silenced = None, logging.root.manager.disable
    for number in before:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        logging.disable(silenced)


def heard() -> int | None:
    """The last signal that asked this process to end; None where none did, or nobody listened."""
    return _patience.heard


def end_deaf() -> None:
    """Hear no further signal: the command is at its end and only has to say so. `ending_in_order` takes it back."""
    for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
        if signal.getsignal(number) is _end:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def keeping_interrupts() -> Iterator[None]:
    """Where `ending_in_order` listens to interrupts, it does so again after a block in which somebody else would."""
    listens = signal.getsignal(signal.SIGINT) is _end
    try:
        yield
    finally:
        if listens and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, _end)


@contextmanager
def undisturbed() -> Iterator[None]:
    """A signal within the block waits for its end, so that what is begun to be removed is removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _patience.blocks += 1
    try:
        yield
    except KeyboardInterrupt:
        _patience.waiting = None  # the run is on its way out: what it has to say is not lost to a second signal
        raise
    finally:
        _patience.blocks -= 1
        if not _patience.blocks and _patience.waiting is not None:
            number, _patience.waiting = _patience.waiting, None
            raise Ended(number)


def interruptibly(work: Callable[[], Result], stop: Callable[[], object]) -> Result:
    """What ``work`` gives. Another thread does it, so that this one hears signals; then it is told to ``stop``.

    Python hears a signal between two of its own steps, in the main thread: one long question to a database is one step.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    from concurrent.futures import ThreadPoolExecutor, wait

    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(copy_context().run, work)
        try:
            while not wait([asked], timeout=_LOOK_SECONDS).done:
                pass
        except BaseException:
            with undisturbed():
                while not asked.done():
                    stop()
                    wait([asked], timeout=_STOP_SECONDS)
            raise
    return asked.result()
