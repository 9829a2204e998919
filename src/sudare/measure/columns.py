"""Results as columns of equal length, ready for Arrow, a data frame or a template."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


class ColumnArrays:
    """A frozen dataclass whose fields are arrays of one length."""

    def to_arrow(self) -> pa.Table:
        """One tidy Arrow table; what is undefined (NaN) is null."""
        import pyarrow as pa

        return pa.table({name: pa.array(column, from_pandas=True) for name, column in self._columns().items()})

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary of plain numbers per row."""
        columns = {name: column.tolist() for name, column in self._columns().items()}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _columns(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # every subclass is a dataclass
