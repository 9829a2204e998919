"""Which files of a folder or a pattern hold records, and that they hold them alike.

Programs that write a folder of Parquet leave other things in it: what a dead job had begun (``_temporary``), marks
(``_SUCCESS``), hidden files. Spark's rule says what is not data, and holds for both engines here, so that they read the
same files of the same folder.

A reader takes the types of some file, and casts the others to them: a file with one person's row could round the ages
of all. So all files must have the same columns of the same types, or all are refused in the same words. Folders' names
such as ``year=2020`` have no types, and none is looked for in them: one folder's name would decide how all are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from glob import has_magic
from pathlib import Path
from urllib.parse import unquote

from sudare.errors import InputError


def files_in(folder: Path) -> tuple[Path, ...]:
    """The Parquet files of a folder and of the folders in it, in order."""
    return tuple(file for file in _matching(folder, "**/*.parquet") if is_data(file.relative_to(folder).parts))


def files_like(pattern: Path) -> tuple[Path, ...]:
    """The files that a pattern matches, in order; ``**`` stands for any number of folders.

    A folder that the pattern names without a sign is read whatever its name is.
    """
    named = next(place for place, part in enumerate(pattern.parts) if has_magic(part))
    root = Path(*pattern.parts[:named])
    found = _matching(root, str(Path(*pattern.parts[named:])))
    return tuple(file for file in found if is_data(file.relative_to(root).parts))


def is_data(parts: tuple[str, ...]) -> bool:
    """Whether Spark takes a file for data, by the names of its folders below the one that is read and by its own.

    Names that begin with a dot or an underscore are none, but for partitions such as ``_year=2020``; nor is what is
    still being copied by Hadoop. Folders named like Parquet's own ``_metadata`` are looked into.

    >>> [is_data(parts) for parts in [("a.parquet",), ("_temporary", "a.parquet"), ("_y=1", "a.parquet")]]
    [True, False, True]
    """
    *folders, name = parts
    return not _hidden(name) and not any(_hidden(each) and not _metadata(each) for each in folders)


def refuse_other_types(files: Iterable[Path], name: str) -> None:
    """Refuse Parquet files whose columns differ in name or type, without saying which; only their ends are read."""
    import pyarrow

    try:
        schemas = {_types(file) for file in files}
    except (pyarrow.ArrowException, OSError):
        raise InputError(
            "not all of the files are whole Parquet files",
            value=name,
            hint="Write or copy those again that do not begin and end with the bytes PAR1. No file is named here, "
            "since a file can be one person's.",
        ) from None
    if len(schemas) > 1:
        raise InputError(
            "the Parquet files do not all have the same columns of the same types",
            value=name,
            hint="Write all of them with one schema. No file is named here, since a file can be one person's.",
        )


def partitions(file: Path) -> frozenset[str]:
    """The columns that the folders of a file name.

    >>> sorted(partitions(Path("table/year=2020/month=1/part-0.parquet")))
    ['month', 'year']
    """
    return frozenset(unquote(part.partition("=")[0]) for part in file.absolute().parts[:-1] if "=" in part)


def _types(file: Path) -> frozenset[tuple[str, ...]]:
    """The columns of a file with their types as Parquet has them; order and whether a value may be missing aside."""
    import pyarrow.parquet

    schema = pyarrow.parquet.read_metadata(file).schema
    columns = [schema.column(place) for place in range(len(schema.names))]
    return frozenset(
        (each.path, each.physical_type, str(each.logical_type), str(each.converted_type), str(each.length))
        for each in columns
    )


def _hidden(name: str) -> bool:
    return (name.startswith("_") and "=" not in name) or name.startswith(".") or name.endswith("._COPYING_")


def _metadata(name: str) -> bool:
    return name.startswith(("_metadata", "_common_metadata"))


def _matching(root: Path, pattern: str) -> list[Path]:
    try:
        return sorted(path for path in root.glob(pattern) if path.is_file())
    except OSError:  # a folder that was removed meanwhile, or that lies too deep
        raise InputError("the folder cannot be looked through", value=str(root)) from None
