"""weft: give it a goal; it weaves a task graph from the skills that fit, runs it in parallel and answers.

This is the public face: import every public name from here. Each is loaded when it is first used, so that importing
weft, and `weft --help`, stay fast. `__init__.pyi` tells type checkers the same.
"""

# Nothing is imported above this that the current folder could hold, not even __future__: see leave_current_folder.
import gc
import sys

from weft.current_folder import is_command, leave_current_folder

if is_command(getattr(sys, "argv", [])):  # before anything else is imported
    leave_current_folder()
    gc.set_threshold(50_000)  # importing makes many objects and hardly any garbage

from importlib import import_module
from typing import Any

from weft.version import __version__

_MODULES = {
    # Running goals
    "weft.runs.runtime": "Weft",
    "weft.runs.run_goal": "run_goal run_goal_sync run_recipe",
    "weft.runs.goal": "Goal",
    "weft.runs.stop": "Stop",
    "weft.runs.preview": "Preview",
    "weft.runs.stored.rerun": "RerunPlan",
    "weft.runs.conversations.conversation": "Conversation TakenBack",
    "weft.runs.conversations.stored_turns": "StoredTurn",
    "weft_executor.stores.row": "ConversationSummary",
    "weft.runs.steps.reviewing": "Review",
    "weft_executor.history.result": "Result TaskReport",
    "weft_executor.results.kept_files": "Artifact",
    "weft.settings.settings": "InvalidSettings Settings",
    # Batches
    "weft.batch.run_batch": "run_batch BatchReport",
    "weft.batch.options": "BatchOptions ClusterOptions",
    "weft.batch.runner": "BatchObserver",
    "weft.batch.goals": "BatchGoal",
    "weft.batch.summary": "BatchSummary",
    # Evaluations
    "weft.evaluation.evaluate": "evaluate EvaluationOptions",
    "weft.evaluation.variant": "Variant",
    "weft.evaluation.report": "VariantDifference EvaluationReport VariantFigures",
    "weft.evaluation.scoring": "Score",
    "weft.evaluation.checks.answer_checks": "CheckResult",
    "weft.evaluation.statistics": "Comparison Interval",
    # Plans
    "weft_planner.plan.forms.result_keys": "ResultCheck",
    "weft_planner.plan.plan": "Plan",
    "weft_planner.plan.task": "Task",
    "weft_planner.plan.repeat": "Repeat",
    # Approvals
    "weft_planner.approvals": "Answer ApprovalRequest Approve",
    "weft_executor.approvals.policy": "ApprovalRule",
    "weft.runs.stored.requests": "AnsweredAlready UnknownRequest",
    "weft.runs.recipes.recipe": "NoRecipe Recipe RecipeParameter RecipeValueError",
    # Models
    "weft_planner.model": "Message Model Reply Request ToolCall ToolSpec Usage",
    "weft_skills.image_file": "Image",
    # Skills and tools
    "weft_skills.skill": "Skill",
    "weft_skills.selection.detector": "Selection SkillDetector",
    "weft_skills.tools.tool": "Tool",
    "weft_skills.tools.envelope": "Envelope",
    "weft_skills.tools.fault": "ToolFault",
    "weft_skills.tools.effects": "Effects changes_file",
    # Events
    "weft_planner.events": (
        "AnswerChecked AnswerJudged ApprovalAsked ApprovalGiven CallBroken CallFailed CallFinished CallProgressed "
        "CallRetried CallStarted CatalogueTaken ConditionChecked ConversationTurn EarlierOutput EarlierOutputRead "
        "EarlierRun EarlierTurn Event FileKept FilePart FileRead ImagesGiven ModelLoaded ModelLoading PlanChanged "
        "PlanMade PlanRefused PromptMade RecipeUse Record ReplanAsked ResultChecked RunFinished RunNoted RunResumed "
        "RunStarted RunTagged SkillLoaded SkillPrint SkillShortened SkillsSelected TaskFinished TaskReused "
        "TaskStarted TextStreamed ToolCalled ToolLogged ToolOutput ToolReported ToolStarted TurnResult TurnSummarised "
        "TurnTakenBack Warned"
    ),
    # Errors
    "weft_skills.errors": "BrokenSkill InputError SetupError SkillError UnknownSkill UnreadableSkill WeftError",
    "weft_planner.errors": (
        "AnswerNeeded BudgetSpent CallTimedOut ContentRefused FormatRefused Halted ImagesRefused KeyRefused "
        "ModelError Overloaded PlanError PromptTooLong RateLimited RecordEnded Refused RequestRefused ServerFailed "
        "SkillNotUsed TaskDenied TemplateError TooSlow ToolsRefused Transient UnknownModel UnknownPrice Unreachable"
    ),
    "weft_executor.stores.errors": "BadStore EarlierForm LeaseLost NotRunning RunHeld RunExists StoreFailed UnknownRun",
    "weft_executor.model_loop.task_runner": "ToolFailed",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name in _HOMES:
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    raise AttributeError(f"module 'weft' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
