"""goalwright: give it a goal; it weaves a task graph from the skills that fit, runs it in parallel and answers.

This is the public face: import every public name from here. Each is loaded when it is first used, so that importing
goalwright, and `goalwright --help`, stay fast. `__init__.pyi` tells type checkers the same.
"""

# Nothing is imported above this that the current folder could hold, not even __future__: see leave_current_folder.
import gc
import sys

from goalwright.current_folder import is_command, leave_current_folder

if is_command(getattr(sys, "argv", [])):  # before anything else is imported
    leave_current_folder()
    gc.set_threshold(50_000)  # importing makes many objects and hardly any garbage

from importlib import import_module
from typing import Any

from goalwright.version import __version__

_MODULES = {
    # Running goals
    "goalwright.runs.runtime": "Goalwright",
    "goalwright.runs.run_goal": "run_goal run_goal_sync run_recipe",
    "goalwright.runs.goal": "Goal",
    "goalwright.runs.stop": "Stop",
    "goalwright.runs.preview": "Preview",
    "goalwright.runs.stored.rerun": "RerunPlan",
    "goalwright.runs.conversations.conversation": "Conversation TakenBack",
    "goalwright.runs.conversations.stored_turns": "StoredTurn",
    "goalwright_executor.stores.row": "ConversationSummary",
    "goalwright.runs.callbacks": "Review",
    "goalwright_executor.history.result": "Result TaskReport",
    "goalwright_executor.results.kept_files": "Artifact",
    "goalwright.settings.settings": "InvalidSettings Settings",
    # Batches
    "goalwright.batch.run_batch": "run_batch BatchReport",
    "goalwright.batch.options": "BatchOptions ClusterOptions",
    "goalwright.batch.runner": "BatchObserver",
    "goalwright.batch.goals": "BatchGoal",
    "goalwright.batch.summary": "BatchSummary",
    # Evaluations
    "goalwright.evaluation.evaluate": "evaluate EvaluationOptions",
    "goalwright.evaluation.trials": "Variant",
    "goalwright.evaluation.report": "VariantDifference EvaluationReport VariantFigures",
    "goalwright.evaluation.scoring": "Score",
    "goalwright.evaluation.checks.answer_checks": "CheckResult",
    "goalwright.evaluation.statistics": "Comparison Interval",
    # Plans
    "goalwright_planner.plan.plan": "Plan",
    "goalwright_planner.plan.task": "Repeat ResultCheck Task",
    # Approvals
    "goalwright_planner.approvals": "Answer ApprovalRequest Approve",
    "goalwright_executor.approvals.policy": "ApprovalRule",
    "goalwright.runs.stored.requests": "AnsweredAlready UnknownRequest",
    "goalwright.runs.plans.plan_file": "InvalidPlan",
    "goalwright.runs.recipes.recipe": "NoRecipe Recipe RecipeExists RecipeParameter RecipeValueError",
    # Models
    "goalwright_planner.model": "Message Model Reply Request ToolCall ToolSpec Usage",
    "goalwright_skills.image_file": "Image",
    # Skills and tools
    "goalwright_skills.skill": "Skill",
    "goalwright_skills.selection.detector": "Selection SkillDetector",
    "goalwright_skills.tools.envelope": "Envelope",
    "goalwright_skills.tools.tool": "Tool ToolFault",
    "goalwright_skills.tools.effects": "Effects changes_file",
    # Events
    "goalwright_planner.events": (
        "AnswerChecked AnswerJudged ApprovalAsked ApprovalGiven CallBroken CallFailed CallFinished CallProgressed "
        "CallRetried CallStarted CatalogueTaken ConditionChecked ConversationTurn EarlierOutput EarlierOutputRead "
        "EarlierRun EarlierTurn Event FileKept FilePart FileRead ImagesGiven ModelLoaded ModelLoading PlanChanged "
        "PlanMade PlanRefused PromptMade RecipeUse Record ReplanAsked ResultChecked RunFinished RunNoted RunResumed "
        "RunStarted RunTagged SkillLoaded SkillPrint SkillShortened SkillsSelected TaskFinished TaskReused "
        "TaskStarted TextStreamed ToolCalled ToolLogged ToolOutput ToolReported ToolStarted TurnResult TurnSummarised "
        "TurnTakenBack Warned"
    ),
    # Errors
    "goalwright_skills.errors": (
        "BrokenSkill GoalwrightError InputError SetupError SkillError UnknownSkill UnreadableSkill"
    ),
    "goalwright_planner.errors": (
        "AnswerNeeded BudgetSpent CallTimedOut ContentRefused FormatRefused Halted ImagesRefused KeyRefused "
        "ModelError Overloaded PlanError PromptTooLong RateLimited RecordEnded Refused RequestRefused ServerFailed "
        "SkillNotUsed TaskDenied TemplateError TooSlow ToolsRefused Transient UnknownModel UnknownPrice Unreachable"
    ),
    "goalwright_executor.stores.errors": (
        "BadStore LeaseLost NoJournal NotAJournal NotRunning RunExists RunHeld StoreFailed UnknownRun"
    ),
    "goalwright_executor.model_loop.task_runner": "ToolFailed",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name in _HOMES:
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    raise AttributeError(f"module 'goalwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
