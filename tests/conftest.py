"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data: SUDARE_DATA, or ../shared/data beside the repository; skips elsewhere."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SUDARE_DATA") or beside)
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is missing; name its folder in SUDARE_DATA")
    return folder
