"""`goalwright eval`: cases, checks, judges, variants and verdicts, with the real command line and a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.evaluation.store import EvaluationFolder
from tests.conftest import add_skill
from tests.evaluated import SKILL, TEXT, answering, is_judge, is_pairwise, letters, part, write_cases
from tests.nursery import Ran
from tests.openai_server import Answer, Call, Fail, OpenAIServer, Say, Script

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

Serve = Callable[[Script], OpenAIServer]
Goalwright = Callable[..., Ran]
MODEL = ("--model", "openai/test-model")
VARIANTS = ("--variant", f"without=--without {SKILL}", "--variant", f"with=--skill {SKILL}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    add_skill(tmp_path, SKILL, TEXT)
    return tmp_path


def greets_with_skill(goal: str, system: str) -> str:
    return f"Dear customer, about: {goal}" if "Polite letters" in system else f"About: {goal}"


def evaluated(goalwright: Goalwright, folder: Path, *arguments: str, status: int = 0) -> dict[str, Any]:
    ran = goalwright("eval", *arguments, "--json", cwd=folder)
    assert ran.status == status, ran.err
    document: dict[str, Any] = json.loads(ran.out)
    return document


def test_one_variant_has_a_pass_rate_and_evidence(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering(greets_with_skill))
    good, bad = letters(2)
    write_cases(folder / "cases.jsonl", good, bad | {"checks": [{"contains": "DEAR"}, {"not_contains": "customer"}]})
    found = evaluated(goalwright, folder, "cases.jsonl", *MODEL)
    assert (found["cases"], found["differences"], len(found["rows"])) == (2, [], 2)
    (variant,) = found["variants"]
    assert (variant["pass_rate"], variant["calls"]) == (0.5, 2.0)
    assert 0 < variant["low"] < 0.5 < variant["high"] < 1
    rows = {row["case"]: row for row in found["rows"]}
    assert rows["letter-0"]["passed"] is True
    assert [check["passed"] for check in rows["letter-1"]["checks"]] == [True, False]
    assert "customer" in rows["letter-1"]["checks"][1]["evidence"]
    assert len(server.calls) == 4
    shown = goalwright("eval", "show", "last", cwd=folder)
    assert (shown.status, "letter-1" in shown.out) == (0, True)
    assert json.loads(goalwright("eval", "show", "--json", cwd=folder).out) == found


def test_cases_are_read_from_stdin_and_resumed_by_their_ids(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering(greets_with_skill))
    lines = [json.dumps(case) + "\n" for case in letters(3)]
    ran = goalwright("eval", "-", *MODEL, "--json", stdin="".join(lines[:2]), cwd=folder)
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert (found["cases"], [row["case"] for row in found["rows"]]) == (2, ["letter-0", "letter-1"])
    paid = len(server.calls)
    again = goalwright("eval", "-", *MODEL, "--json", "--resume", stdin="".join(lines[:2]), cwd=folder)
    assert (json.loads(again.out)["eval_id"], len(server.calls)) == (found["eval_id"], paid)
    other = goalwright("eval", "-", *MODEL, "--json", "--resume", stdin=lines[2], cwd=folder)
    assert json.loads(other.out)["eval_id"] != found["eval_id"]
    scored = goalwright("eval", "score", "last", "--cases", "-", "--json", stdin=lines[2], cwd=folder)
    assert (scored.status, json.loads(scored.out)["cases"]) == (0, 1)
    refused = goalwright("eval", "-", *MODEL, stdin='{"id": 1}\n', cwd=folder)
    assert (refused.status, "stdin, line 1: 'goal' is missing or empty" in refused.err) == (2, True)


def test_helpful_skill_is_found_and_worse_cases_are_listed(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering(greets_with_skill))
    cases = letters(10)
    cases[9]["checks"] = [{"not_contains": "Dear"}]
    write_cases(folder / "cases.jsonl", *cases)
    found = evaluated(goalwright, folder, "cases.jsonl", *MODEL, *VARIANTS, "--repeat", "1")
    assert len(found["rows"]) == 20
    (difference,) = found["differences"]
    assert (difference["variant"], difference["against"]) == ("with", "without")
    assert (difference["verdict"], difference["worse"]) == ("helps", ["letter-9"])
    assert difference["better"] == [f"letter-{number}" for number in range(9)]
    shown = goalwright("eval", "show", "last", "--html", "page.html", cwd=folder)
    assert "with − without" in shown.out
    assert "helps: 9 cases better, 1 worse, 0 the same" in shown.out
    assert "worse: letter-9: not_contains: Dear" in shown.out
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "letter-9" in page
    assert "<script" not in page
    ran = goalwright("eval", "show", "last", "--check", "--no-worse", cwd=folder)
    assert (ran.status, "letter-9" in ran.err) == (1, True)
    assert goalwright("eval", "show", "last", "--check", "--min-pass", ".8", cwd=folder).status == 0


@pytest.mark.parametrize("bound", [("--no-worse",), ("--max-cost-ratio", "1.1")])
def test_a_bound_that_compares_needs_two_variants(
    bound: tuple[str, ...], folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(answering(greets_with_skill))
    write_cases(folder / "cases.jsonl", *letters(1))
    ran = goalwright("eval", "cases.jsonl", *MODEL, "--check", *bound, cwd=folder)
    assert (ran.status, server.calls, f"{bound[0]} compares variants" in ran.err) == (2, [], True), ran.err
    run = evaluated(goalwright, folder, "cases.jsonl", *MODEL)["rows"][0]["run_id"]
    for arguments in (("show",), ("score", run, "--cases", "cases.jsonl")):
        ran = goalwright("eval", *arguments, "--json", "--check", *bound, cwd=folder)
        assert (ran.status, json.loads(ran.out)["error"]["hint"]) == (2, "name two with --variant")


def test_no_worse_fails_without_checks(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering(greets_with_skill))
    (folder / "goals.txt").write_text("Write a letter to Ann\n", encoding="utf-8")
    ran = goalwright("eval", "goals.txt", *MODEL, *VARIANTS, "--repeat", "1", "--check", "--no-worse", cwd=folder)
    assert (ran.status, "no case shows whether it is worse than without" in ran.err) == (1, True), ran.err


def test_only_cases_with_runs_of_both_variants_are_compared(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering(lambda goal, _: f"Dear customer, about: {goal}"))
    write_cases(folder / "cases.jsonl", *letters(3))
    found = evaluated(goalwright, folder, "cases.jsonl", *MODEL, *VARIANTS, "--repeat", "1")
    rows = [row for row in found["rows"] if (row["case"], row["variant"]) != ("letter-2", "with")]
    EvaluationFolder(folder, found["eval_id"]).end(found | {"rows": rows, "stopped": "interrupted"})
    assert "0 cases better, 0 worse, 2 the same" in goalwright("eval", "show", "last", cwd=folder).out


def test_judge_must_quote_the_answer_and_is_paid_once(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    def judge(call: Call) -> str:
        quote = "Dear customer" if "greets" in part(call, "expectation") else "Yours faithfully"
        return json.dumps({"passed": True, "evidence": quote})

    server = serve(answering(greets_with_skill, judge))
    expectations = ["It greets the customer", "It ends politely"]
    write_cases(folder / "cases.jsonl", letters(1)[0] | {"expectations": expectations})
    found = evaluated(goalwright, folder, "cases.jsonl", *MODEL, "--judge", "openai/judge-model")
    greets, ends = found["rows"][0]["checks"][1:]
    assert (greets["passed"], greets["evidence"]) == (True, "Dear customer")
    assert (ends["passed"], "quote is not in the answer" in ends["evidence"]) == (False, True)
    asked = [call for call in server.calls if is_judge(call)]
    assert {call.body["model"] for call in asked} == {"judge-model"}
    assert len(asked) == 2
    run = found["rows"][0]["run_id"]
    again = evaluated(goalwright, folder, "score", run, "--cases", "cases.jsonl", "--judge", "openai/judge-model")
    assert again["rows"][0]["checks"] == found["rows"][0]["checks"]
    assert len([call for call in server.calls if is_judge(call)]) == 2
    free = evaluated(goalwright, folder, "score", run, "--cases", "cases.jsonl")
    assert [check["check"] for check in free["rows"][0]["checks"]] == ["contains: Dear"]
    assert json.loads(goalwright("replay", run, "--strict", "--json", cwd=folder).out)["drift"] == []


def test_unreadable_verdict_fails_the_expectation(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering(greets_with_skill, lambda _: "I think it is rather good."))
    case = {"id": "a", "goal": "Write a letter", "expectations": ["It is kind"], "owner": "Ann"}
    write_cases(folder / "cases.jsonl", case)
    ran = goalwright("eval", "cases.jsonl", *MODEL, "--json", cwd=folder)
    assert "judges its own answers" in ran.err
    assert "case a: unknown key 'owner'; it is ignored" in ran.err
    (row,) = json.loads(ran.out)["rows"]
    assert (row["passed"], "requested format" in row["checks"][0]["evidence"]) == (False, True)


def test_answer_refused_by_the_judges_provider_fails_only_its_case(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    script = answering(greets_with_skill, pairwise="first")

    def refusing(call: Call) -> Answer:
        if (is_judge(call) or is_pairwise(call)) and "customer 0" in call.user:
            return Fail(400, "Invalid prompt: flagged as potentially violating our usage policy")
        return script(call)

    serve(refusing)
    write_cases(folder / "cases.jsonl", *(one | {"expectations": ["It is kind"]} for one in letters(2)))
    found = evaluated(goalwright, folder, "cases.jsonl", *MODEL, *VARIANTS, "--repeat", "1", "--pairwise")
    judged = {row["case"]: row["checks"][-1] for row in found["rows"]}
    assert judged["letter-0"]["evidence"].startswith("the judge gave no verdict: openai/test-model refused the content")
    assert (judged["letter-0"]["passed"], judged["letter-1"]["passed"]) == (False, True)


def refusing(script: Script, status: int, wanted: Callable[[Call], bool]) -> Script:
    """Answers, but refuses the judge's questions that are `wanted`."""
    return lambda call: Fail(status, "the server says no") if is_judge(call) and wanted(call) else script(call)


def test_refused_question_has_no_verdict_and_others_are_paid_once(
    folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    server = serve(refusing(answering(greets_with_skill), 400, lambda call: "customer 0" in call.user))
    write_cases(folder / "cases.jsonl", *(one | {"expectations": ["It is kind"]} for one in letters(4)))
    arguments = ("cases.jsonl", *MODEL, "--judge", "openai/judge")
    found = evaluated(goalwright, folder, *arguments)
    assert [row["passed"] for row in found["rows"]] == [False, True, True, True]
    assert "the judge gave no verdict: openai/judge refused the request" in found["rows"][0]["checks"][-1]["evidence"]
    assert "no verdict on 1 question" in found["warnings"][-1]
    before = len(server.calls)
    assert evaluated(goalwright, folder, *arguments, "--resume")["rows"] == found["rows"]
    assert len(server.calls) == before + 1


@pytest.mark.parametrize(("status", "refused"), [(401, "customer 0"), (400, "customer")])
def test_failing_judge_is_named_and_its_verdicts_are_kept(
    status: int, refused: str, folder: Path, serve: Serve, goalwright: Goalwright
) -> None:
    script = answering(greets_with_skill)
    server = serve(refusing(script, status, lambda call: refused in call.user))
    write_cases(folder / "cases.jsonl", *(one | {"expectations": ["It is kind"]} for one in letters(4)))
    arguments = ("cases.jsonl", *MODEL, "--judge", "openai/judge")
    error = evaluated(goalwright, folder, *arguments, status=4)["error"]
    assert error["message"].startswith("the judge of evaluation 2")
    assert "--model" not in error["hint"]
    assert "--judge" in error["hint"]
    assert "continue with --resume" in error["hint"]
    server.script = script
    found = evaluated(goalwright, folder, *arguments, "--resume")
    assert [row["passed"] for row in found["rows"]] == [True] * 4
    again = 1 if status == 401 else 4
    assert len([call for call in server.calls if is_judge(call)]) == 4 + again


def test_pairwise_answers_are_compared_in_both_orders(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering(greets_with_skill, pairwise="first"))
    (folder / "goals.txt").write_text("Write a letter to Ann\nWrite a letter to Bob\n", encoding="utf-8")
    found = evaluated(goalwright, folder, "goals.txt", *MODEL, *VARIANTS, "--repeat", "1", "--pairwise")
    assert found["differences"][0]["pairwise"] == {"better": 0, "worse": 0, "tie": 2}
    assert (found["variants"][0]["pass_rate"], found["rows"][0]["passed"]) == (None, None)
    assert len([call for call in server.calls if is_pairwise(call)]) == 4


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"goal": "x"}\n{"goal": ', "line 2: not valid JSON"),
        ('{"goal": "x", "checks": [{"containz": "a"}]}', "did you mean 'contains'?"),
        ('{"goal": "x", "checks": [{"regex": "("}]}', "is not a regular expression"),
        ('{"goal": "x", "files": ["gone.txt"]}', "line 1: its file 'gone.txt' does not exist"),
        ('{"id": "a", "goal": "x"}\n{"id": "a", "goal": "y"}', "line 2: duplicate id 'a'"),
        ("", "has no cases"),
        ('{"id": "a"}', "line 1: 'goal' is missing"),
    ],
)
def test_damaged_cases_are_named_by_line_and_nothing_runs(
    text: str, told: str, folder: Path, goalwright: Goalwright
) -> None:
    (folder / "cases.jsonl").write_text(text, encoding="utf-8")
    ran = goalwright("eval", "cases.jsonl", *MODEL, cwd=folder)
    assert (ran.status, told in " ".join(ran.err.split())) == (2, True), ran.err
    assert not (folder / ".agents" / "journal.sqlite").exists()


@pytest.mark.parametrize(
    ("variant", "told"),
    [
        ("nothing", "a variant is NAME=FLAGS"),
        ("a=--nope", "No such option"),
        ("a=--without gone-skill", "which does not exist"),
        ("a=--skill gone-skill", "there is no skill 'gone-skill'"),
        ("a=-c max_taskz=5", "max_taskz"),
        ("a=--model 'x", "No closing quotation"),
    ],
)
def test_invalid_variant_is_refused(variant: str, told: str, folder: Path, goalwright: Goalwright) -> None:
    write_cases(folder / "cases.jsonl", *letters(1))
    ran = goalwright("eval", "cases.jsonl", *MODEL, "--variant", variant, "--variant", "b=", cwd=folder)
    assert (ran.status, told in " ".join(ran.err.split())) == (2, True), ran.err


def test_a_variant_can_be_without_tools(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering(greets_with_skill))
    write_cases(folder / "cases.jsonl", *letters(1))
    variants = ("--variant", "with=", "--variant", "without=--without excel")
    found = evaluated(goalwright, folder, "cases.jsonl", *MODEL, *variants, "--repeat", "1")
    assert {row["variant"] for row in found["rows"]} == {"with", "without"}


@pytest.mark.parametrize("flag", ["--retry-errors", "--rerun-changed"])
def test_rerun_flags_need_resume(flag: str, folder: Path, goalwright: Goalwright) -> None:
    (folder / "cases.jsonl").write_text('{"goal": "Greet Ana"}\n', encoding="utf-8")
    ran = goalwright("eval", "cases.jsonl", flag, cwd=folder)
    assert ran.status == 2
    assert "--retry-errors and --rerun-changed need --resume" in ran.err


def test_evaluation_resumes_where_it_stopped(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering(greets_with_skill))
    write_cases(folder / "cases.jsonl", *letters(6))
    arguments = ["cases.jsonl", *MODEL, *VARIANTS, "--repeat", "1", "--jobs", "1"]
    stopped = goalwright("eval", *arguments, "--max-tokens", "100", "--json", cwd=folder)
    assert stopped.status == 5, stopped.err
    before = len(server.calls)
    assert before < 24
    shown = goalwright("eval", "show", "last", "--check", "--no-worse", cwd=folder)
    assert (shown.status, "was stopped (budget)" in shown.err) == (5, True), shown.err
    found = evaluated(goalwright, folder, *arguments, "--resume")
    assert (len(found["rows"]), found["stopped"]) == (12, None)
    assert len(server.calls) == 24
    again = evaluated(goalwright, folder, *arguments, "--resume")
    assert (again["variants"], len(server.calls)) == (found["variants"], 24)


def test_resume_refuses_a_changed_model(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering(greets_with_skill))
    write_cases(folder / "cases.jsonl", *letters(2), letters(3)[2] | {"model": "openai/own"})
    found = evaluated(goalwright, folder, "cases.jsonl", *MODEL, "--timeout", "99")
    paid = len(server.calls)
    other = ("cases.jsonl", "--model", "openai/other", "--resume")
    refused = goalwright("eval", *other, cwd=folder)
    assert (refused.status, len(server.calls)) == (2, paid)
    assert "model was openai/test-model and is openai/other" in refused.err
    again = evaluated(goalwright, folder, *other, "--rerun-changed")
    assert (again["eval_id"], len(server.calls)) == (found["eval_id"], paid + 4), "a case's own model is the same"
    rows = [{row["case"]: row["run_id"] for row in document["rows"]} for document in (found, again)]
    assert [name for name in rows[0] if rows[0][name] == rows[1][name]] == ["letter-2"]
    evaluated(goalwright, folder, *other, "--judge", "openai/judge", "--timeout", "50")
    assert len(server.calls) == paid + 4


def test_resume_refuses_a_changed_skill(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering(greets_with_skill))
    skill = folder / "skills" / SKILL
    (skill / "evals").mkdir()
    rows = [{"id": case["id"], "prompt": case["goal"], "checks": case["checks"]} for case in letters(3)]
    (skill / "evals" / "evals.json").write_text(json.dumps({"evals": rows}), encoding="utf-8")
    arguments = ["skills", "compare", SKILL, *MODEL, "--repeat", "1", "--json"]
    first = goalwright(*arguments, cwd=folder)
    assert json.loads(first.out)["differences"][0]["verdict"] == "helps", first.err
    assert goalwright("eval", f"skills/{SKILL}", *MODEL, cwd=folder).status == 0
    paid = len(server.calls)
    (skill / "SKILL.md").write_text(TEXT.replace("Polite letters", "Short letters"), encoding="utf-8")
    (skill / "evals" / "notes.md").write_text("no task sees this", encoding="utf-8")
    for command in (arguments, ["eval", f"skills/{SKILL}", *MODEL]):
        refused = goalwright(*command, "--resume", cwd=folder)
        said = refused.err + refused.out
        assert (refused.status, f"the skill '{SKILL}' has changed" in said) == (2, True), said
    again = goalwright(*arguments, "--resume", "--rerun-changed", "--check", "--min-pass", "1", cwd=folder)
    assert (again.status, len(server.calls)) == (1, paid + 6), "it runs again with the skill, not without it"
    assert json.loads(again.out)["differences"][0]["verdict"] == "no difference shown"


def test_command_runs_only_in_a_trusted_folder(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering(greets_with_skill))
    (folder / "evals").mkdir()
    grade = "import json, sys\nresult = json.load(sys.stdin)\nsys.exit('Dear' not in result['answer'])\n"
    (folder / "evals" / "grade.py").write_text(grade, encoding="utf-8")
    case = letters(1)[0] | {"checks": [{"command": ["python", "grade.py"]}]}
    write_cases(folder / "evals" / "cases.jsonl", case)
    ran = goalwright("eval", "evals/cases.jsonl", *MODEL, cwd=folder)
    assert (ran.status, "not trusted yet" in ran.err) == (4, True), ran.err
    found = evaluated(goalwright, folder, "evals/cases.jsonl", *MODEL, "--trust")
    assert found["rows"][0]["passed"] is True, found["rows"]
    found = evaluated(goalwright, folder, "evals/cases.jsonl", *MODEL, "--variant", f"a=--without {SKILL}")
    assert (found["rows"][0]["passed"], "exit status 1" in found["rows"][0]["checks"][0]["evidence"]) == (False, True)


@pytest.mark.parametrize("journal", [(), ("--journal", "runs.sqlite")])
def test_command_in_the_workspace_folder_stays_trusted(
    folder: Path, serve: Serve, goalwright: Goalwright, journal: tuple[str, ...]
) -> None:
    serve(answering(greets_with_skill))
    (folder / "grade.py").write_text("", encoding="utf-8")
    write_cases(folder / "cases.jsonl", letters(1)[0] | {"checks": [{"command": ["python", "grade.py"]}]})
    found = evaluated(goalwright, folder, "cases.jsonl", *MODEL, *journal, "--trust")
    assert found["rows"][0]["passed"] is True, found["rows"]
    found = evaluated(goalwright, folder, "cases.jsonl", *MODEL, *journal)
    assert found["rows"][0]["passed"] is True, found["rows"]
    (folder / "grade.py").write_text("import other", encoding="utf-8")
    ran = goalwright("eval", "cases.jsonl", *MODEL, *journal, cwd=folder)
    assert (ran.status, "not trusted yet" in ran.err) == (4, True), ran.err


def test_a_skills_own_evals_are_found(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering(greets_with_skill))
    evals = folder / "skills" / SKILL / "evals"
    evals.mkdir()
    (evals / "list.csv").write_text("name\nAnn\n", encoding="utf-8")
    cases = [
        {"id": 1, "prompt": "Write a letter to Ann", "expected_output": "A letter", "files": ["evals/list.csv"]},
        {"id": 2, "prompt": "Write a letter to Bob", "expectations": ["It greets Bob"], "files": []},
    ]
    document = {"skill_name": SKILL, "evals": cases}
    (evals / "evals.json").write_text(json.dumps(document, indent=2), encoding="utf-8")
    found = evaluated(goalwright, folder, f"skills/{SKILL}", *MODEL)
    assert {row["case"]: row["passed"] for row in found["rows"]} == {"1": True, "2": True}


def test_a_run_that_fails_does_not_pass(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(lambda _: Say("no plan at all"))
    write_cases(folder / "cases.jsonl", letters(1)[0] | {"checks": [{"not_contains": "Dear"}, {"max_cost": 1}]})
    (row,) = evaluated(goalwright, folder, "cases.jsonl", *MODEL)["rows"]
    assert (row["passed"], row["checks"][0]["evidence"].startswith("failed:")) == (False, True)


def test_judge_is_required_if_only_variants_have_models(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    server = serve(answering(greets_with_skill))
    write_cases(folder / "cases.jsonl", letters(1)[0] | {"expectations": ["It is kind"]})
    variants = ("--variant", "a=--model openai/a", "--variant", "b=--model openai/b", "--repeat", "1")
    ran = goalwright("eval", "cases.jsonl", *variants, cwd=folder, env={"GOALWRIGHT_MODEL": ""})
    assert (ran.status, server.calls, "--judge" in ran.err) == (2, [], True), ran.err
    found = evaluated(goalwright, folder, "cases.jsonl", *variants, "--judge", "openai/j")
    assert {call.body["model"] for call in server.calls} == {"a", "b", "j"}
    assert [variant["pass_rate"] for variant in found["variants"]] == [1.0, 1.0]


def test_regex_is_matched_in_a_child_process(folder: Path, serve: Serve, goalwright: Goalwright) -> None:
    serve(answering(lambda goal, _: "a" * 60 + "!"))
    checks = [{"regex": "^a+!$"}, {"regex": "(a+)+$"}, {"regex": "A!"}]
    write_cases(folder / "cases.jsonl", letters(1)[0] | {"checks": checks})
    (row,) = evaluated(goalwright, folder, "cases.jsonl", *MODEL)["rows"]
    assert [check["passed"] for check in row["checks"]] == [True, False, True]
    assert "takes longer than 2 s" in row["checks"][1]["evidence"]
