"""`--variant NAME=FLAGS`: the flags of `goalwright run` that a variant may have, as one shell-quoted text."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.configuration import SettingFlags
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.evaluation.variant import Variant
    from goalwright.settings.paths import Paths


@click.command(add_help_option=False)
@options.named_models
@options.skills
@options.concurrency
@options.replans
@options.powers
@options.changes
@click.option("--skill", "skills", multiple=True)
def _parsed(flags: SettingFlags, skills: tuple[str, ...]) -> tuple[SettingFlags, tuple[str, ...]]:
    return flags, skills


def read_variants(given: Sequence[str], where: Paths, base: SettingFlags) -> list[Variant]:
    """The variants of the command line; raises if one is not NAME=FLAGS, or has a flag that a variant cannot have."""
    return [_variant(text, where, base) for text in given]


def _variant(text: str, where: Paths, base: SettingFlags) -> Variant:
    from goalwright.evaluation.variant import Variant

    name, equals, words = text.partition("=")
    if not equals or not name.strip():
        raise InputError(
            f"--variant {text!r}: a variant is NAME=FLAGS", hint="such as --variant 'with=--skill pdf-forms'"
        )
    try:
        flags, skills = _parsed.main(shlex.split(words), standalone_mode=False)
    except ValueError as error:
        raise InputError(f"--variant {name}: {error}", hint="quote the flags as one text") from error
    except click.ClickException as error:
        raise InputError(
            f"--variant {name}: {error.format_message()}",
            hint="flags are those of `goalwright run`: --model, --skill, --without, --skills-dir, --seed-dir, -c KEY=VALUE",
        ) from error
    return Variant(name.strip(), _settings(flags, where, base), skills, words.strip())


def _settings(flags: SettingFlags, where: Paths, base: SettingFlags) -> dict[str, Any]:
    """The settings that a variant changes, with their values."""
    both = SettingFlags(**{field.name: _joined(base, flags, field.name) for field in fields(SettingFlags)})
    resolved = configuration.settings(where, both, quiet=True).settings
    return {name: getattr(resolved, name) for name in flags.given()}


def _joined(base: SettingFlags, flags: SettingFlags, name: str) -> Any:
    before, own = getattr(base, name), getattr(flags, name)
    if name in ("skills_without", "changes"):
        return (*before, *own)
    return before if own in (None, ()) else own
