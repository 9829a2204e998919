"""Processes to kill: forked from a process that has imported everything, so that a thousand of them cost seconds.

`Nursery` starts one Python process that runs a prelude (the imports) and then forks a child for each line it is given;
the child runs the script with the words of the line as ``words``. What the child does is what a fresh process would do,
and ``SIGKILL`` ends it as it would end that one.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

_CODE = """
import json, os, signal, sys
{prelude}
child = compile({script!r}, "child", "exec")
print("ready", flush=True)
for line in sys.stdin:
    words = json.loads(line)
    process = os.fork()
    if process == 0:
        os.close(0)
        status = 1
        try:
            exec(child, {{"words": words, "__name__": "child"}})
            status = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            os._exit(status)
    print(process, flush=True)
    sys.stdin.readline()
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


def memory_of(process: int) -> int:
    """Kilobytes that a process holds."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[1])


class Nursery:
    """One child at a time: `start` it, perhaps `kill` it, and `wait` for its exit code."""

    def __init__(self, prelude: str, script: str) -> None:
        code = _CODE.format(prelude=prelude, script=script)
        self._parent = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._line() == "ready"
        self.process = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._parent.kill()
        self._parent.wait()
        self._parent.stdin.close()
        self._parent.stdout.close()

    def start(self, *words: object) -> None:
        """Fork a child; it runs when this returns."""
        self._tell(json.dumps([str(word) for word in words]))
        self.process = int(self._line())

    def kill(self) -> None:
        """As by ``kill -9``; a child that has ended is not reaped yet, so that no other process can be hit."""
        os.kill(self.process, signal.SIGKILL)

    def wait(self) -> int:
        """The exit code, or minus the signal."""
        self._tell("wait")
        self.process = 0
        return int(self._line())

    def _tell(self, line: str) -> None:
        self._parent.stdin.write(line + "\n")
        self._parent.stdin.flush()

    def _line(self) -> str:
        return self._parent.stdout.readline().strip()
