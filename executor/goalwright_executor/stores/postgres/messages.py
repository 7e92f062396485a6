"""PostgreSQL's errors in plain words, and what to do about them."""

from __future__ import annotations

import psycopg
from psycopg import errors as pg

from goalwright_executor.stores.errors import BadStore, StoreFailed

# Errors that waiting does not cure, although psycopg counts them among the operational ones.
_LASTING = (pg.DiskFull, pg.OutOfMemory, pg.QueryCanceled, pg.ConfigurationLimitExceeded)
_PASSING = (psycopg.OperationalError, psycopg.InterfaceError, pg.IdleInTransactionSessionTimeout)
_REACH = "check that the database can be reached with this URL; the password comes from PGPASSWORD or PGPASSFILE"


def is_passing(error: Exception) -> bool:
    """Whether it may work a moment later: the connection broke, the server restarts, two transactions collided."""
    return isinstance(error, _PASSING) and not isinstance(error, _LASTING)


def explain(error: Exception) -> str:
    """What went wrong, in one line."""
    match error:
        case pg.UniqueViolation():
            return "another process has taken over the run and written to it"
        case pg.UndefinedTable() | pg.UndefinedColumn() | pg.UndefinedFunction():
            return "its tables have another schema version than this goalwright"
        case ValueError():
            return "it is damaged: a text in it cannot be read"
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def hint(error: Exception) -> str:
    """What to do about it."""
    match error:
        case pg.UniqueViolation():
            return "leave the run to that process, or resume it later"
        case pg.UndefinedTable() | pg.UndefinedColumn() | pg.UndefinedFunction():
            return "upgrade them with `goalwright journal migrate`"
        case pg.InsufficientPrivilege():
            return "grant its role what docs/cluster.md names, or use another role"
        case pg.DiskFull():
            return "free disk space on the database's server, then continue with goalwright resume"
    return _REACH


def bad_store(journal: object, what: str, error: Exception) -> BadStore:
    """The error of a journal that cannot be `what`: used or read."""
    return BadStore(f"the journal {journal} cannot be {what}: {explain(error)}", hint=hint(error))


def store_failed(journal: object, error: Exception) -> StoreFailed:
    """The error of a journal that can no longer be written."""
    return StoreFailed(f"the journal {journal} cannot be written: {explain(error)}", hint=hint(error))
