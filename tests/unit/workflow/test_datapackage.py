import hashlib
import json

import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import sudare as sd
from recipes import one_of_each_kind, village

TYPES = {"integer": "int64", "number": "double", "string": "string", "boolean": "bool"}


@pytest.mark.parametrize("kind", ["table", "sample", "perturbation", "weights"])
def test_the_package_describes_the_files_as_they_are(tmp_path, kind):
    made = sd.publish(one_of_each_kind(tmp_path)[kind])
    package = json.loads((made.folder / "datapackage.json").read_text(encoding="utf-8"))
    assert package["id"] == made.release_id
    assert "datapackage.json" in made.certificate["files"]
    for resource in package["resources"]:
        path = made.folder / resource["path"]
        assert resource["hash"] == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
        assert resource["bytes"] == path.stat().st_size
        if "schema" not in resource:
            continue
        frame = csv.read_csv(path) if resource["format"] == "csv" else pq.read_table(path)
        names = [name for name in frame.column_names if name != "geometry"]
        fields = {field["name"]: field for field in resource["schema"]["fields"]}
        assert list(fields) == names
        assert all(field["description"] and field["description_ja"] for field in fields.values())
        if resource["format"] == "parquet":
            for name, field in fields.items():
                found = frame.schema.field(name).type
                found = getattr(found, "value_type", found)
                assert str(found).removeprefix("large_") == TYPES[field["type"]], name


def test_excel_is_told_that_a_file_is_utf_8(tmp_path):
    here = village(tmp_path)
    made = sd.publish(here.change(("[output]\n", "[output]\nbyte_order_mark = true\n")))
    assert (made.folder / "table.csv").read_bytes().startswith(b'\xef\xbb\xbf"mesh"')
    assert sd.verify(made.folder / "release.json").ok
