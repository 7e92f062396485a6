"""The form of an answer for a program: a JSON Schema, or a type that pydantic can validate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from goalwright_planner.plan.output_schema import error_messages
from goalwright_planner.plan.references import spelled
from goalwright_skills.errors import InputError

_ASK = "give a JSON Schema as a mapping, or a pydantic model"


@dataclass(frozen=True, slots=True)
class DataSchema:
    """A JSON Schema, and the pydantic type that it was made from, if any.

    A `recorded` schema may come from an untrusted record, so its regular expressions are ignored.
    """

    document: Mapping[str, Any]
    adapter: Any = field(default=None, repr=False, compare=False)
    recorded: bool = False

    @classmethod
    def of(cls, schema: Any) -> DataSchema:
        """Return the schema that a program passed; raises InputError if it is invalid."""
        if isinstance(schema, DataSchema):
            return schema
        if isinstance(schema, Mapping):
            return cls(_checked(schema))
        from pydantic import TypeAdapter  # slow to import
        from pydantic.errors import PydanticUserError

        try:
            adapter = TypeAdapter(schema)
            return cls(_checked(adapter.json_schema()), adapter)
        except PydanticUserError as error:
            raise InputError(f"schema={schema!r} has no JSON Schema: {error.message}", hint=_ASK) from error

    def faults(self, value: Any) -> list[str]:
        """Return all faults of a value: by the schema, and if it conforms, by the type itself."""
        try:
            faults = error_messages(_validator(_text(self.document), recorded=self.recorded).iter_errors(value))
        except RecursionError:
            return ["the answer is nested too deeply"]
        return faults or self._own_faults(value)

    def _own_faults(self, value: Any) -> list[str]:
        if self.adapter is None:
            return []
        from pydantic import ValidationError

        try:
            self.adapter.validate_json(_text(value))
        except ValidationError as error:
            rows = error.errors(include_url=False, include_context=False, include_input=False)
            return [f"{spelled(row['loc']).lstrip('.') or 'the answer'}: {row['msg']}" for row in rows]
        return []

    def made(self, value: Any) -> Any:
        """Return a value without faults in the program's own type, or the JSON value."""
        return value if self.adapter is None or value is None else self.adapter.validate_json(_text(value))


def _checked(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema; raises if it is invalid or refers to anything outside."""
    from jsonschema import SchemaError, validators
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    try:
        document: dict[str, Any] = json.loads(_text(schema))
        validators.validator_for(document, default=_latest()).check_schema(document)
    except (TypeError, ValueError) as error:
        raise InputError(f"schema= is not JSON: {error}", hint=_ASK) from error
    except SchemaError as error:
        where = spelled(error.absolute_path).lstrip(".") or "schema="
        raise InputError(f"schema= is not a JSON Schema: {where}: {error.message:.300}", hint=_ASK) from error
    resolver = Registry().resolver_with_root(DRAFT202012.create_resource(document))
    for reference in _references(document):
        try:
            resolver.lookup(reference)
        except (Unresolvable, ValueError) as error:  # ValueError: a step into a list that is not a number
            message = f"schema= refers to {reference!r}, which is not in it"
            raise InputError(message, hint='put it below "$defs" of the schema and write "#/$defs/NAME"') from error
    return document


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in ("$ref", "$dynamicRef") and isinstance(inner, str):
                yield inner
            else:
                yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _latest() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator


@cache
def _validator(schema: str, *, recorded: bool) -> Any:
    """Return a validator that fetches nothing."""
    from jsonschema import validators
    from referencing import Registry

    document = json.loads(schema)
    kind = validators.validator_for(document, default=_latest())
    if recorded:
        kind = validators.extend(
            kind, {"pattern": _pass, "patternProperties": _pass, "additionalProperties": _additional_properties}
        )
    return kind(document, registry=Registry())


def _pass(*_: Any) -> Iterator[Any]:
    return iter(())


def _additional_properties(validator: Any, allowed: Any, value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """Apply `additionalProperties`, unless it depends on patterns."""
    if "patternProperties" not in schema:
        yield from _latest().VALIDATORS["additionalProperties"](validator, allowed, value, schema)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
