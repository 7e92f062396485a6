"""Checks whether a model can be called, without calling it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goalwright.models.model_check import ModelProblem, find_problem
from tests.goalwright.interfaces.cli.test_main import ended

if TYPE_CHECKING:
    from pathlib import Path


class Litellm:
    """A litellm with a few providers and no keys."""

    def get_llm_provider(self, name: str) -> tuple[str, str]:
        provider, slash, model = name.partition("/")
        if not slash or provider not in ("openai", "gemini", "bedrock", "hosted_vllm"):
            raise ValueError("LLM Provider NOT provided")
        return model, provider

    def validate_environment(self, name: str) -> dict[str, Any]:
        missing = {
            "openai": ["OPENAI_API_KEY"],
            "gemini": ["GOOGLE_API_KEY", "GEMINI_API_KEY"],
            "bedrock": ["AWS_ACCESS_KEY_ID"],
        }
        return {"missing_keys": missing.get(name.partition("/")[0], [])}


def problem_of(name: str) -> ModelProblem:
    problem = find_problem(name, Litellm)
    assert problem is not None
    return problem


def test_a_name_without_a_provider_is_reported_with_an_example() -> None:
    problem = problem_of("nonsense")
    assert problem.what == "no provider is known for the model 'nonsense'"
    assert "openai/gpt-6.1-sol" in problem.remedy
    assert problem.certain


def test_error_inside_litellm_is_an_uncertain_problem() -> None:
    class Half(Litellm):
        def get_llm_provider(self, name: str) -> tuple[str, str]:
            raise ImportError("cannot import name 'x' from partially initialized module 'litellm.y'")

    problem = find_problem("openai/gpt-4o", Half)
    assert problem is not None
    assert (problem.certain, "partially initialized" in problem.what) == (False, True)


def test_a_missing_key_is_named() -> None:
    assert problem_of("openai/gpt-4o").remedy.startswith("set OPENAI_API_KEY, or choose")
    assert problem_of("gemini/x").remedy.startswith("set GOOGLE_API_KEY or GEMINI_API_KEY")


def test_variables_that_may_have_defaults_are_no_certain_problem() -> None:
    assert not problem_of("bedrock/x").certain
    assert find_problem("hosted_vllm/x", Litellm) is None


def test_missing_local_model_is_certain_only_if_it_cannot_be_downloaded() -> None:
    assert not problem_of("local").certain
    unknown = problem_of("local/nope")
    assert unknown.certain
    assert "qwen2.5-coder-0.5b" in unknown.what


@pytest.mark.parametrize(
    ("model", "message"),
    [("nonsense", "no provider is known for the model 'nonsense'"), ("openai/x", "there is no key")],
)
def test_doctor_and_run_report_a_key_file_fault_with_exit_4(
    model: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("doctor", "--model", model, "--workspace", str(tmp_path)) == 4
    assert f"!!  model     {message}" in capsys.readouterr().out
    assert ended("run", "--model", model, "--workspace", str(tmp_path), "Say hello") == 4
    err = capsys.readouterr().err
    assert err.count(message) == 1
    assert "litellm" not in err.lower()


@pytest.mark.parametrize("key", ["", "  "])
def test_an_empty_key_counts_as_missing_for_batch_and_run(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    goals, results = tmp_path / "goals.txt", tmp_path / "out.jsonl"
    goals.write_text("Say hello\n", encoding="utf-8")
    for arguments in (["batch", str(goals), "-o", str(results)], ["run", "Say hello"]):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        assert ended(*arguments, "--model", "openai/x", "--workspace", str(tmp_path)) == 4
        assert "error: there is no key for openai/x" in capsys.readouterr().err
    assert not results.exists()
