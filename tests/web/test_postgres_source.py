"""Records in a table of PostgreSQL."""

import pytest

import sudare as sd
from sudare.errors import InputError


def test_a_table_of_postgresql_is_read(postgres):
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE TABLE people (id bigint, x double precision, sex text)")
        connection.execute("INSERT INTO people VALUES (1, 1.5, 'f'), (1, 2.5, 'm'), (2, 3, NULL)")
    records = sd.read((postgres, "people"))
    assert records.count(sd.Domain(x=sd.Bins(0, 10, step=1)), unit="id").total == 2
    assert records.count(sd.Domain(sex=sd.Categories(["f", "m"])), outside="drop").total == 2
    with pytest.raises(InputError, match="no such table"):
        sd.read((postgres, "persons"))


def test_an_address_that_is_nobodys_is_shown_without_its_password():
    pytest.importorskip("psycopg")
    with pytest.raises(InputError, match="cannot be reached") as mistake:
        sd.read(("postgresql://me:secret@127.0.0.1:1/nothing", "people"))
    assert "secret" not in str(mistake.value)
