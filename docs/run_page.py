"""Runs the code of a page, block by block, as a reader would who starts in an empty folder.

``python docs/run_page.py docs/tutorials/table.md`` says which blocks ran; the tests do it for every page.

===========  ========================================================================================
python       runs; all blocks of a page share their names; where the first line is ``# name.py`` it is saved as a module
pycon        runs, and must print what is shown (``...`` stands for anything, white space does not count)
console      lines that begin with ``$`` are commands of one shell, and must print what is shown, if anything is;
             what is shown begins with ``Error:`` where a command is meant to fail
... alike    the same, but numbers and hashes may differ: noise
toml         must parse; where the first line is ``# name.toml`` it is saved under that name; the package of a
             ``pyproject.toml`` is then installed: its entry points are found
json         must parse
text         is only read
===========  ========================================================================================

A command that ends in ``&`` goes on in the background. Port 8000 is replaced by a free one. A plain
``sudare ...`` runs in this process, which spares its imports.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ONLY_READ = ("", "text")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PORT = "8000"
_NUMBER = re.compile(r"-?\b[0-9a-f]{12,}\b|-?\d+([,.]\d+)*(e[-+]?\d+)?")
PATIENCE = 300  # seconds until a server must answer


class PageError(Exception):
    """A block did not do what its page says."""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page; ``place`` is page and line."""

    place: str
    language: str
    code: str
    alike: bool = False


def blocks(path: Path) -> Iterator[Block]:
    """All fenced blocks of a page but those of Sphinx (``{toctree}`` and its like)."""
    fence, language, remark, start, lines = "", "", "", 0, []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        mark = re.match(r"\s*(`{3,})\s*(\S*)\s*(\S*)", line)
        if not fence and mark:
            fence, language, remark = mark.groups()
            start, lines = number, []
        elif fence and line.strip() == fence:
            if not language.startswith("{"):
                yield Block(f"{path.name}:{start}", language, "\n".join(lines) + "\n", remark == "alike")
            fence = ""
        elif fence and mark and mark[1] == fence:
            break
        elif fence:
            lines.append(line)
    if fence:
        raise PageError(f"{path.name}:{start}: the block does not end")


class Shell:
    """One bash in a folder, for all commands of a page; ``changed`` once one set a variable or left the folder."""

    def __init__(self, folder: Path) -> None:
        tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],  # noqa: S607 - the shell that the reader would use
            cwd=folder,
            env={**os.environ, "PATH": tools, "COLUMNS": "100"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.changed = False

    def run(self, command: str) -> tuple[str, int]:
        """What a command prints, and its exit code."""
        stdin, stdout = self._bash.stdin, self._bash.stdout
        assert stdin is not None  # noqa: S101 - both are pipes
        assert stdout is not None  # noqa: S101
        self.changed |= command.startswith(("export ", "cd "))
        if command.endswith("&"):
            command = command[:-1] + ">> background.log 2>&1 &"
        stdin.write(f"{{ {command}\n}} </dev/null\nprintf '\\n=== %s\\n' $?\n")
        stdin.flush()
        lines = []
        for line in stdout:
            if line.startswith("=== "):
                return "".join(lines)[:-1], int(line.split()[1])
            lines.append(line)
        raise PageError(f"the shell ended: {''.join(lines)}")

    def close(self) -> None:
        """End the shell and whatever it left running."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._bash.pid, signal.SIGTERM)
        self._bash.communicate()


def run_page(path: Path, folder: Path) -> int:
    """Run every block of the page at ``path`` in ``folder``; returns how many ran."""
    found = [block for block in blocks(path) if block.language not in ONLY_READ]
    port, names, shell = _free_port(), {"__name__": "__main__"}, Shell(folder)
    searched = list(sys.path)
    try:
        with contextlib.chdir(folder):
            for block in found:
                _run(replace(block, code=block.code.replace(PORT, port)), names, shell, port)
    finally:
        sys.path[:] = searched
        shell.close()
    return len(found)


def _run(block: Block, names: dict[str, Any], shell: Shell, port: str) -> None:
    if block.language == "python" and (name := re.match(r"# (\S+\.py)\b", block.code)):
        Path(name[1]).write_text(block.code, encoding="utf-8")
        sys.path.insert(0, str(Path.cwd()))
    elif block.language == "python":
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block.code, block.place, "exec"), names)  # noqa: S102 - it is our own page
    elif block.language == "pycon":
        _run_session(block, names)
    elif block.language == "console":
        for command, shown in _commands(block):
            plain = command.startswith("sudare ") and not shell.changed and not set(command) & set("|&;<>$\n")
            printed, code = _run_here(command) if plain else shell.run(command)
            if command.endswith("&"):
                _wait_for(port)
            _compare(f"{block.place}: {command}", shown, printed, block.alike)
            if (code != 0) != shown.startswith("Error:"):
                raise PageError(f"{block.place}: {command} ended with {code}\n{printed}")
    elif block.language == "toml":
        tomllib.loads(block.code)
        if name := re.match(r"# (\S+\.toml)\b", block.code):
            Path(name[1]).write_text(block.code, encoding="utf-8")
            if name[1] == "pyproject.toml":
                _install(tomllib.loads(block.code)["project"])
    elif block.language == "json":
        json.loads(block.code)
    else:
        raise PageError(f"{block.place}: nobody runs {block.language!r}; mark it as text, or teach docs/run_page.py")


def _install(project: dict[str, Any]) -> None:
    """What an installer would leave of a package whose modules are in this folder."""
    facts = Path(f"{project['name'].replace('-', '_')}-{project['version']}.dist-info")
    facts.mkdir()
    name = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (facts / "METADATA").write_text(name, encoding="utf-8")
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{entry} = {target}" for entry, target in entries.items())]
    (facts / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    importlib.invalidate_caches()


def _run_here(command: str) -> tuple[str, int]:
    from sudare.cli import main

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            main.main(shlex.split(command)[1:], prog_name="sudare")
        except SystemExit as end:
            return printed.getvalue(), int(end.code or 0)
    raise PageError(f"{command} did not end")


def _run_session(block: Block, names: dict[str, Any]) -> None:
    """``>>>`` lines and what they print."""
    session = doctest.DocTestParser().get_doctest(block.code, {}, block.place, block.place, 0)
    session.globs = names
    told = io.StringIO()
    runner = doctest.DocTestRunner(Alike() if block.alike else None, optionflags=FLAGS)
    if runner.run(session, out=told.write, clear_globs=False).failed:
        raise PageError(told.getvalue())


def _commands(block: Block) -> Iterator[tuple[str, str]]:
    """Each command and what the page shows below it."""
    for part in re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        while command.endswith("\\"):
            more, _, shown = shown.partition("\n")
            command += "\n" + more
        yield command, shown


class Alike(doctest.OutputChecker):
    """Takes every number, and every hash, for the same."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Whether ``got`` is what is wanted, but for numbers."""
        return super().check_output(_NUMBER.sub("0", want), _NUMBER.sub("0", got), optionflags)


def _compare(what: str, shown: str, printed: str, alike: bool) -> None:
    checker = Alike() if alike else doctest.OutputChecker()
    if shown.strip() and not checker.check_output(shown, printed, FLAGS):
        difference = checker.output_difference(doctest.Example(what, shown), printed, FLAGS)
        raise PageError(f"{what}\n{difference}")


def _free_port() -> str:
    """Below the ports that a system gives out by itself, so that it is still free when a page comes to use it."""
    # By the number of the process: pages that run side by side have ports of their own.
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with contextlib.suppress(OSError), socket.socket() as free:
            free.bind(("127.0.0.1", port))
            return str(port)
    raise PageError("no port is free")


def _wait_for(port: str) -> None:
    """Until the server that was just started answers."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(port)), timeout=1):
            return
        time.sleep(0.05)
    raise PageError(f"nothing answers on port {port}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as empty:
            print(f"{name}: {run_page(Path(name).resolve(), Path(empty))} blocks ran")  # noqa: T201 - a script
