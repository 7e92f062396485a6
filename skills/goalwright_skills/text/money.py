"""Amounts of US dollars, as people read them: never with an exponent."""

from __future__ import annotations

from decimal import Decimal

_LEAST = 0.0001


def dollars(amount: float) -> str:
    """`$0.0123`; what is less than a hundredth of a cent has two digits that count: `$0.0000012`."""
    return f"${amount:.4f}" if not 0 < amount < _LEAST else f"${plain(amount, 2)}"


def short_dollars(amount: float) -> str:
    """`$1.23`; less than a cent as in `dollars`."""
    return f"${amount:.2f}" if not 0 < amount < 0.01 else dollars(amount)


def plain(number: float, digits: int = 12) -> str:
    """A number, rounded to that many digits, without an exponent: `0.000001`, not `1e-06`; `120`, not `1.2e+02`."""
    return f"{Decimal(f'{number:.{digits}g}'):f}"
