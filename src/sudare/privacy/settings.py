"""The ledger of the organisation: configured once, and then the default of every recipe and command.

A ledger beside each recipe would mean a budget for each folder. A configured ledger counts for all: by the environment
variable ``SUDARE_LEDGER``, else by ``ledger = "/..."`` in ``sudare/config.toml`` of the user's configuration
(``XDG_CONFIG_HOME``, or ``~/.config``), else in ``/etc/sudare/config.toml``. A path is absolute, so that it means one
file wherever somebody works.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from sudare.errors import LedgerError, did_you_mean

VARIABLE = "SUDARE_LEDGER"
DEFAULT_NAME = "sudare-ledger.db"
_SYSTEM = Path("/etc/sudare/config.toml")
_KEYS = ("ledger",)


def configured_ledger(environment: Mapping[str, str] | None = None) -> Path | None:
    """The configured ledger; None where there is none.

    >>> configured_ledger({"SUDARE_LEDGER": "/srv/books/ledger.db"}).as_posix()
    '/srv/books/ledger.db'
    """
    found = os.environ if environment is None else environment
    if named := found.get(VARIABLE):
        return _absolute(named, VARIABLE)
    for file in (_user_file(found), _SYSTEM):
        if file is not None and (named := _ledger_in(file)) is not None:
            return _absolute(named, str(file))
    return None


def default_ledger(folder: Path | None = None) -> Path:
    """The configured ledger, or `DEFAULT_NAME` in ``folder``, by default the current one."""
    return configured_ledger() or (Path(DEFAULT_NAME) if folder is None else folder / DEFAULT_NAME)


def chosen_ledger(named: str | None, folder: Path, confirmed: bool) -> Path:
    """The ledger of a recipe in ``folder`` that names one or none; another than the configured one, if confirmed."""
    if named is None:
        return default_ledger(folder)
    path, configured = folder / named, configured_ledger()
    if configured is not None and not confirmed and path.resolve() != configured.resolve():
        raise LedgerError(
            "the recipe names another ledger than the configured one",
            value=named,
            allowed=[configured],
            hint="Leave path out under [ledger]; if two ledgers are meant, confirm it: confirm_other_ledger = true.",
        )
    return path


def _user_file(environment: Mapping[str, str]) -> Path | None:
    base = environment.get("XDG_CONFIG_HOME") or ""
    if not Path(base).is_absolute():  # so the XDG specification wants it
        home = environment.get("HOME") or environment.get("USERPROFILE")  # the second on Windows
        if not home:
            return None
        base = str(Path(home) / ".config")
    return Path(base) / "sudare" / "config.toml"


def _ledger_in(file: Path) -> str | None:
    try:
        contents = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):  # a configuration that cannot be read must not be taken for none
        raise LedgerError("the configuration cannot be read", value=str(file), allowed="TOML") from None
    for key in contents:
        if key not in _KEYS:
            raise LedgerError(
                "unknown key {key} in the configuration",
                value=str(file),
                allowed=_KEYS,
                hint=did_you_mean(key, _KEYS),
                key=key,
            )
    named = contents.get("ledger")
    if named is not None and not isinstance(named, str):
        raise LedgerError("the configured ledger is not a path", value=str(file), allowed="an absolute path")
    return named


def _absolute(named: str, where: str) -> Path:
    path = Path(named)
    if not path.is_absolute() or "\0" in named:
        raise LedgerError(
            "the ledger in {where} is not an absolute path", value=named, allowed="an absolute path", where=where
        )
    return path
