"""Public lists of codes: a file of one code a line, or of meshes beside the prefectures and municipalities they are of.

Such a list of municipalities is what the Statistics Bureau of Japan publishes for each prefecture: the code of a
municipality (JIS X 0402), its name, and the 1 km mesh, in CP932.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable
from pathlib import Path

from sudare.domain.mesh import by_level
from sudare.domain.parquet import read_parquet
from sudare.domain.text import plain
from sudare.errors import DomainError, did_you_mean

ENDINGS = (".txt", ".csv", ".csv.gz", ".txt.gz")
_PREFECTURES = """
Hokkaido 北海道 Aomori 青森 Iwate 岩手 Miyagi 宮城 Akita 秋田 Yamagata 山形 Fukushima 福島 Ibaraki 茨城 Tochigi 栃木
Gunma 群馬 Saitama 埼玉 Chiba 千葉 Tokyo 東京 Kanagawa 神奈川 Niigata 新潟 Toyama 富山 Ishikawa 石川 Fukui 福井
Yamanashi 山梨 Nagano 長野 Gifu 岐阜 Shizuoka 静岡 Aichi 愛知 Mie 三重 Shiga 滋賀 Kyoto 京都 Osaka 大阪 Hyogo 兵庫
Nara 奈良 Wakayama 和歌山 Tottori 鳥取 Shimane 島根 Okayama 岡山 Hiroshima 広島 Yamaguchi 山口 Tokushima 徳島 Kagawa
香川 Ehime 愛媛 Kochi 高知 Fukuoka 福岡 Saga 佐賀 Nagasaki 長崎 Kumamoto 熊本 Oita 大分 Miyazaki 宮崎 Kagoshima 鹿児島
Okinawa 沖縄
"""
PREFECTURES = {name: f"{place // 2 + 1:02}" for place, name in enumerate(_PREFECTURES.split())}
"""Prefectures in either language, and their codes of JIS X 0401, with which the codes of municipalities begin."""


def read_code_rows(file: Path) -> list[list[str]]:
    """The lines of a text file (UTF-8, else CP932; compressed or not) or a Parquet file, each a list of texts."""
    try:
        if file.suffix.lower() == ".parquet":
            return [[str(value) for value in row] for row in read_parquet(file)]
        content = file.read_bytes()
        content = gzip.decompress(content) if file.suffix.lower() == ".gz" else content
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp932")
    except FileNotFoundError:
        raise DomainError("there is no such file of codes", value=str(file)) from None
    except (OSError, ValueError, EOFError) as problem:
        raise DomainError("the codes of {file} cannot be read", value=type(problem).__name__, file=file.name) from None
    rows = [[plain(value) for value in row] for row in csv.reader(text.splitlines())]
    return [row for row in rows if any(row)]


def meshes_of(file: Path, areas: Iterable[str | int] | None) -> list[str]:
    """The mesh codes of a list, or those beside ``areas``: prefectures and municipalities, by name or by code.

    The meshes are the last column in which every line but a heading has a mesh code. A prefecture is known by its name
    in either language too, where the list has no more than the codes of municipalities.
    """
    rows = read_code_rows(file)
    column = next(
        (place for place in reversed(range(len(rows[0]) if rows else 0)) if _all_meshes(rows[1:], place)), None
    )
    if column is None:
        raise DomainError("{file} has no column of mesh codes", file=file.name)
    body = rows if _all_meshes(rows, column) else rows[1:]
    if areas is None:
        return [row[column] for row in body]
    found: list[str] = []
    names = {value for row in body for place, value in enumerate(row) if place != column}
    for area in [areas] if isinstance(areas, str | int) else areas:
        wanted = plain(str(area))
        code = _prefecture(wanted)
        own = [
            row[column]
            for row in body
            if any(_is(row[place], wanted, code) for place in range(len(row)) if place != column)
        ]
        if not own:
            raise DomainError(
                "{file} has no such prefecture or municipality",
                value=area,
                hint=did_you_mean(wanted, names),
                file=file.name,
            )
        found += own
    return found


def _all_meshes(rows: list[list[str]], column: int) -> bool:
    values = [row[column] if column < len(row) else "" for row in rows]
    return bool(values) and bool(by_level(values, "125m")[1].all())


def _prefecture(name: str) -> str | None:
    """The code of a prefecture by its name or its code; None if it is neither.

    >>> _prefecture("東京都"), _prefecture("Osaka"), _prefecture("1"), _prefecture("13101")
    ('13', '27', '01', None)
    """
    if name.isdecimal() and len(name) <= 2:
        return f"{int(name):02}"
    short = name[:-1] if name[-1:] in "都府県" and name[:-1] in PREFECTURES else name
    return PREFECTURES.get(short) or PREFECTURES.get(name.title())


def _is(value: str, wanted: str, prefecture: str | None) -> bool:
    """Whether a field names an area: itself, a municipality with or without its check digit, or by its prefecture."""
    if value == wanted:
        return True
    code = value.zfill(5) if value.isdecimal() and 4 <= len(value) <= 6 else ""
    if not code:
        return False
    return (
        code[:2] == prefecture
        if prefecture
        else wanted.isdecimal() and len(wanted) >= 4 and code[:5] == wanted.zfill(5)[:5]
    )
