"""The URL of a journal in PostgreSQL: a libpq URL, with `schema=NAME` for a schema other than `goalwright`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict

from goalwright_executor.stores.errors import BadStore
from goalwright_executor.stores.urls import without_password

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Address:
    """A journal's `url` without the password, its schema, and the parameters for libpq."""

    url: str
    schema: str
    parameters: dict[str, Any]

    def __repr__(self) -> str:
        return f"Address({self.url!r})"


def address_of(url: str) -> Address:
    """Parse a URL; errors do not quote it."""
    base, _, query = url.partition("?")
    options = parse_qsl(query, keep_blank_values=True)
    schema = next((value for key, value in options if key == "schema"), "goalwright")
    others = urlencode([(key, value) for key, value in options if key != "schema"], quote_via=quote)
    conninfo = f"postgresql://{base.partition('://')[2]}{'?' if others else ''}{others}"
    if not _SCHEMA.fullmatch(schema):
        raise BadStore(
            f"{without_password(url)} names a schema that goalwright cannot use",
            hint="use lower-case letters, digits and _",
        )
    try:
        parameters = conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError:  # its text quotes parts of the URL, perhaps of the password
        raise BadStore(
            f"{without_password(url)} is not the URL of a PostgreSQL database",
            hint="write postgresql://USER@HOST:5432/DATABASE, with special characters percent-encoded; "
            "the password is best kept in PGPASSWORD or PGPASSFILE",
        ) from None
    return Address(without_password(url), schema, parameters)
