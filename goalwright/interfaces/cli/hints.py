"""The hints that the terminal prints below an error, with the flags and commands that help there.

An error names no flag of its own: its class carries values, and `hint_for` words them for a person at a terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_skills.errors import GoalwrightError

_TOOL_FLAGS = {
    "DeleteFile": "--write",
    "MoveFile": "--write",
    "python_run": "--tools python",
    "shell_run": "--tools shell",
    "WebFetch": "--allow-web HOST",
    "WebSearch": "[search] in your config.toml",
}


def hint_for(error: GoalwrightError) -> str:
    """Return what to do next about an error; by default the error's own hint."""
    from goalwright.batch.options import OptionNeeded
    from goalwright.evaluation.errors import (
        EvaluationChanged,
        Interrupted,
        JudgeFailed,
        NoJudge,
        NoReport,
        UntrustedChecks,
    )
    from goalwright.runs.plans.plan_file import InvalidPlan
    from goalwright.runs.recipes.recipe import RecipeExists
    from goalwright.settings.default_model import NoModel
    from goalwright.settings.untrusted import UntrustedRecord
    from goalwright_executor.stores.errors import BadStore, NoJournal, StoreFailed
    from goalwright_planner.errors import (
        BudgetSpent,
        ContentRefused,
        KeyRefused,
        PlanError,
        RequestRefused,
        UnknownModel,
        UnknownPrice,
    )
    from goalwright_skills.manage.git_source import UnsupportedAddress
    from goalwright_skills.manage.install import Exists, SeveralSkills

    match error:
        case BudgetSpent(limit="max_cost" | "max_tokens" as limit):
            return f"raise --{limit.replace('_', '-')} to continue"
        case UnknownPrice(models=[model, *_]):
            return (
                f'give the price in your config.toml: [prices] "{model}" = {{ input = 1.00, output = 4.00 }}, in US '
                "dollars per million tokens; or pass --allow-unknown-cost, which counts $15 per million"
            )
        case JudgeFailed():
            remedy = f"{error.remedy} (--judge NAME); then " if error.remedy else ""
            return remedy + (
                "continue with --resume: runs and verdicts are kept"
                if error.evaluation
                else "score again: verdicts are kept"
            )
        case KeyRefused() | UnknownModel() | RequestRefused() | ContentRefused() if error.hint:
            return f"{error.hint} (--model NAME)"
        case PlanError() if error.hint:
            return "try a stronger model with --model, state the goal more plainly, or write a plan and use --plan"
        case NoModel():
            return f"{error.hint}\nFor one command: --model NAME, or --model local --yes to download the local model."
        case UntrustedRecord():
            return f"{error.hint} (--trust, --model NAME)"
        case NoJudge():
            return "choose the judge's model with --judge"
        case UntrustedChecks():
            return "read them, then run again with --trust"
        case EvaluationChanged():
            return "rerun the changed cases with --rerun-changed, or omit --resume for a new evaluation"
        case NoReport():
            return f"{error.remove}run its command again with --resume: finished runs are not paid for again"
        case Interrupted():
            return "the same command with --resume continues; finished runs are not paid for again"
        case InvalidPlan(tools=[_, *_] as tools):
            return "; ".join(
                (*(f"{tool} needs {_TOOL_FLAGS[tool]}" for tool in tools), "fix the plan and run it again")
            )
        case OptionNeeded(option="resume"):
            return "continue it with --resume, name another file with -o, or move this one away"
        case OptionNeeded(option="rerun_changed"):
            return "run them again with --rerun-changed, or give them new ids"
        case OptionNeeded(option="allow_open"):
            return (
                "anyone who reaches its ports can run code on it: set RAY_AUTH_MODE=token on every node "
                "(see docs/cluster.md), or accept the risk with --allow-open-cluster"
            )
        case Exists(replaceable=True):
            return "confirm with --yes, or choose another name with --id"
        case SeveralSkills():
            return "import all of them with --all, or one of them"
        case UnsupportedAddress(allow_local=False):
            return f"{error.hint}; local addresses need --allow-local"
        case RecipeExists():
            return "choose another name, or pass --replace"
        case NoJournal():
            return "nothing has been run here; use --workspace or --journal to name another"
        case BadStore(journal=journal) | StoreFailed(journal=journal) if journal:
            return f"{error.hint} with --journal URL"
        case _:
            return error.hint
