"""Arguments are validated, and every fault names the parameter and its description."""

from __future__ import annotations

from typing import Any

import pytest

from goalwright_skills.tools.parameter import Parameter, check_arguments

PARAMETERS = (
    Parameter("path", "string", "Path of the workbook", required=True),
    Parameter("rows", "integer", "How many rows", default=10, has_default=True),
    Parameter("mode", "string", "How", enum=("fast", "full")),
    Parameter("filter", "object"),
)


def test_defaults_are_filled_in_and_other_parameters_stay_absent() -> None:
    assert check_arguments(PARAMETERS, {"path": "a"}) == ({"path": "a", "rows": 10}, [])


def test_null_counts_as_absent() -> None:
    assert check_arguments(PARAMETERS, {"path": "a", "rows": None, "mode": None}) == ({"path": "a", "rows": 10}, [])


def test_a_whole_float_is_an_integer() -> None:
    filled, faults = check_arguments(PARAMETERS, {"path": "a", "rows": 3.0})
    assert faults == []
    assert isinstance(filled["rows"], int)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "missing parameter: path — give a string (Path of the workbook)"),
        ({"path": None}, "missing parameter: path"),
        ({"path": 3}, "parameter path has the wrong type: 3 — give a string (Path of the workbook)"),
        ({"path": "a", "rows": "3"}, "rows has the wrong type"),
        ({"path": "a", "rows": True}, "rows has the wrong type: true"),
        ({"path": "a", "rows": 1.5}, "give an integer (How many rows)"),
        ({"path": "a", "mode": "slow"}, 'not allowed: "slow" — give one of "fast", "full" (How)'),
        ({"path": "a", "filter": []}, "filter has the wrong type"),
        ({"path": "a", "row": 3}, "unknown parameter: row — did you mean rows (How many rows)"),
        ({"path": "a", "zzz": 3}, "the parameters are: path, rows, mode, filter"),
    ],
)
def test_faults_name_the_parameter_and_the_remedy(arguments: dict[str, Any], says: str) -> None:
    faults = check_arguments(PARAMETERS, arguments)[1]
    assert len(faults) == 1
    assert says in faults[0]


def test_all_faults_are_reported_at_once() -> None:
    assert len(check_arguments(PARAMETERS, {"rows": "x", "mode": 1, "what": 2})[1]) == 4


def test_a_tool_without_parameters_takes_none() -> None:
    assert "takes none" in check_arguments((), {"x": 1})[1][0]
