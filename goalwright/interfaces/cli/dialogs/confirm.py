"""Asking the user for confirmation, if there is a terminal to ask on."""

from __future__ import annotations

import sys

import click

from goalwright.interfaces.cli.view import output


def can_ask() -> bool:
    """Whether stdin and stderr are a terminal."""
    return sys.stdin.isatty() and output.is_terminal()


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether the user agrees; `yes` answers in advance, and without a terminal the answer is no."""
    return yes or (can_ask() and click.confirm(question, err=True))
