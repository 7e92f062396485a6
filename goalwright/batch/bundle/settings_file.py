"""The settings of a bundle, as a goalwright.toml that the workers read like that of any workspace they do not trust."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from goalwright.batch.bundle.refusal import BundleRefused
from goalwright.settings.settings import FLAGS_ONLY, Settings
from goalwright.settings.untrusted import MODELS, names_in
from goalwright_skills.text.untrusted import carries_address

# Besides what no untrusted goalwright.toml may set: what belongs to the machine that runs the goals, or is sent as a flag.
_OWN = frozenset({"helper_minutes", "skills_require", *FLAGS_ONLY})


def settings_text(settings: Settings) -> str:
    """The settings that differ from their defaults, without addresses and what only a machine's own user may set."""
    rows: list[str] = []
    tables: list[str] = []
    for setting in fields(Settings):
        value = getattr(settings, setting.name)
        if value == setting.default or setting.metadata["guarded"] or setting.metadata["own"] or setting.name in _OWN:
            continue
        if setting.name in MODELS:
            _refuse_addresses(setting.name, value)
        if isinstance(value, Mapping):
            tables += [f"[{setting.name}]", *(f"{_text(key)} = {_value(item)}" for key, item in sorted(value.items()))]
        elif setting.name == "approvals":
            for rule in value:
                tables += ["[[approvals]]", *(f"{key} = {_value(item)}" for key, item in rule.to_dict().items())]
        else:
            rows.append(f"{setting.name} = {_value(value)}")
    return "\n".join(["# What the batch was started with. Each machine's own settings come first.", *rows, *tables, ""])


def _refuse_addresses(name: str, value: Any) -> None:
    for model in names_in(value):
        if carries_address(model):
            raise BundleRefused(
                f"{name!r} names a model by an address, which workers take from their own settings only: {model}",
                hint="set `model` or `api_base` in the config.toml of each worker",
            )


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case _:
            return _text(str(value))


def _text(value: str) -> str:
    """A TOML string: JSON's, with the one character that only TOML forbids."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
