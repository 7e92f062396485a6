"""The URL of a journal in PostgreSQL: libpq's own, and `schema=NAME` for tables in another schema than `goalwright`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict

from goalwright_executor.stores.errors import BadStore
from goalwright_executor.stores.urls import shown

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a journal is: `url` without a password, as it is shown, and what libpq connects with."""

    url: str
    schema: str
    parameters: dict[str, Any]

    def __repr__(self) -> str:
        return f"Address({self.url!r})"


def address_of(url: str) -> Address:
    """The address that a URL names; raises if it cannot be read, without quoting it."""
    place, _, query = url.partition("?")
    given = parse_qsl(query, keep_blank_values=True)
    schema = next((value for key, value in given if key == "schema"), "goalwright")
    rest = urlencode([(key, value) for key, value in given if key != "schema"], quote_via=quote)
    conninfo = f"postgresql://{place.partition('://')[2]}{'?' if rest else ''}{rest}"
    if not _SCHEMA.fullmatch(schema):
        raise BadStore(
            f"{shown(url)} names a schema that goalwright cannot use", hint="use lower-case letters, digits and _"
        )
    try:
        parameters = conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError:  # its text quotes parts of the URL, perhaps of the password
        raise BadStore(
            f"{shown(url)} is not the URL of a PostgreSQL database",
            hint="write postgresql://USER@HOST:5432/DATABASE, with special characters percent-encoded; "
            "the password is best kept in PGPASSWORD or PGPASSFILE",
        ) from None
    return Address(shown(url), schema, parameters)
