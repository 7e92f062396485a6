"""The public names of goalwright, for type checkers; `__init__.py` loads them when they are first used."""

from goalwright.batch.goals import BatchGoal as BatchGoal
from goalwright.batch.options import BatchOptions as BatchOptions
from goalwright.batch.options import ClusterOptions as ClusterOptions
from goalwright.batch.run_batch import BatchReport as BatchReport
from goalwright.batch.run_batch import run_batch as run_batch
from goalwright.batch.runner import BatchObserver as BatchObserver
from goalwright.batch.summary import BatchSummary as BatchSummary
from goalwright.evaluation.checks.answer_checks import CheckResult as CheckResult
from goalwright.evaluation.evaluate import EvaluationOptions as EvaluationOptions
from goalwright.evaluation.evaluate import evaluate as evaluate
from goalwright.evaluation.report import EvaluationReport as EvaluationReport
from goalwright.evaluation.report import VariantDifference as VariantDifference
from goalwright.evaluation.report import VariantFigures as VariantFigures
from goalwright.evaluation.scoring import Score as Score
from goalwright.evaluation.statistics import Comparison as Comparison
from goalwright.evaluation.statistics import Interval as Interval
from goalwright.evaluation.trials import Variant as Variant
from goalwright.runs.callbacks import Review as Review
from goalwright.runs.conversations.conversation import Conversation as Conversation
from goalwright.runs.conversations.conversation import TakenBack as TakenBack
from goalwright.runs.conversations.stored_turns import StoredTurn as StoredTurn
from goalwright.runs.goal import Goal as Goal
from goalwright.runs.plans.plan_file import InvalidPlan as InvalidPlan
from goalwright.runs.preview import Preview as Preview
from goalwright.runs.recipes.recipe import NoRecipe as NoRecipe
from goalwright.runs.recipes.recipe import Recipe as Recipe
from goalwright.runs.recipes.recipe import RecipeExists as RecipeExists
from goalwright.runs.recipes.recipe import RecipeParameter as RecipeParameter
from goalwright.runs.recipes.recipe import RecipeValueError as RecipeValueError
from goalwright.runs.run_goal import run_goal as run_goal
from goalwright.runs.run_goal import run_goal_sync as run_goal_sync
from goalwright.runs.run_goal import run_recipe as run_recipe
from goalwright.runs.runtime import Goalwright as Goalwright
from goalwright.runs.stop import Stop as Stop
from goalwright.runs.stored.requests import AnsweredAlready as AnsweredAlready
from goalwright.runs.stored.requests import UnknownRequest as UnknownRequest
from goalwright.runs.stored.rerun import RerunPlan as RerunPlan
from goalwright.settings.settings import InvalidSettings as InvalidSettings
from goalwright.settings.settings import Settings as Settings
from goalwright.version import __version__ as __version__
from goalwright_executor.approvals.policy import ApprovalRule as ApprovalRule
from goalwright_executor.history.result import Result as Result
from goalwright_executor.history.result import TaskReport as TaskReport
from goalwright_executor.model_loop.task_runner import ToolFailed as ToolFailed
from goalwright_executor.results.kept_files import Artifact as Artifact
from goalwright_executor.stores.errors import BadStore as BadStore
from goalwright_executor.stores.errors import LeaseLost as LeaseLost
from goalwright_executor.stores.errors import NoJournal as NoJournal
from goalwright_executor.stores.errors import NotAJournal as NotAJournal
from goalwright_executor.stores.errors import NotRunning as NotRunning
from goalwright_executor.stores.errors import RunExists as RunExists
from goalwright_executor.stores.errors import RunHeld as RunHeld
from goalwright_executor.stores.errors import StoreFailed as StoreFailed
from goalwright_executor.stores.errors import UnknownRun as UnknownRun
from goalwright_executor.stores.row import ConversationSummary as ConversationSummary
from goalwright_planner.approvals import Answer as Answer
from goalwright_planner.approvals import ApprovalRequest as ApprovalRequest
from goalwright_planner.approvals import Approve as Approve
from goalwright_planner.errors import AnswerNeeded as AnswerNeeded
from goalwright_planner.errors import BudgetSpent as BudgetSpent
from goalwright_planner.errors import CallTimedOut as CallTimedOut
from goalwright_planner.errors import ContentRefused as ContentRefused
from goalwright_planner.errors import FormatRefused as FormatRefused
from goalwright_planner.errors import Halted as Halted
from goalwright_planner.errors import ImagesRefused as ImagesRefused
from goalwright_planner.errors import KeyRefused as KeyRefused
from goalwright_planner.errors import ModelError as ModelError
from goalwright_planner.errors import Overloaded as Overloaded
from goalwright_planner.errors import PlanError as PlanError
from goalwright_planner.errors import PromptTooLong as PromptTooLong
from goalwright_planner.errors import RateLimited as RateLimited
from goalwright_planner.errors import RecordEnded as RecordEnded
from goalwright_planner.errors import Refused as Refused
from goalwright_planner.errors import RequestRefused as RequestRefused
from goalwright_planner.errors import ServerFailed as ServerFailed
from goalwright_planner.errors import SkillNotUsed as SkillNotUsed
from goalwright_planner.errors import TaskDenied as TaskDenied
from goalwright_planner.errors import TemplateError as TemplateError
from goalwright_planner.errors import ToolsRefused as ToolsRefused
from goalwright_planner.errors import TooSlow as TooSlow
from goalwright_planner.errors import Transient as Transient
from goalwright_planner.errors import UnknownModel as UnknownModel
from goalwright_planner.errors import UnknownPrice as UnknownPrice
from goalwright_planner.errors import Unreachable as Unreachable
from goalwright_planner.events import AnswerChecked as AnswerChecked
from goalwright_planner.events import AnswerJudged as AnswerJudged
from goalwright_planner.events import ApprovalAsked as ApprovalAsked
from goalwright_planner.events import ApprovalGiven as ApprovalGiven
from goalwright_planner.events import CallBroken as CallBroken
from goalwright_planner.events import CallFailed as CallFailed
from goalwright_planner.events import CallFinished as CallFinished
from goalwright_planner.events import CallProgressed as CallProgressed
from goalwright_planner.events import CallRetried as CallRetried
from goalwright_planner.events import CallStarted as CallStarted
from goalwright_planner.events import CatalogueTaken as CatalogueTaken
from goalwright_planner.events import ConditionChecked as ConditionChecked
from goalwright_planner.events import ConversationTurn as ConversationTurn
from goalwright_planner.events import EarlierOutput as EarlierOutput
from goalwright_planner.events import EarlierOutputRead as EarlierOutputRead
from goalwright_planner.events import EarlierRun as EarlierRun
from goalwright_planner.events import EarlierTurn as EarlierTurn
from goalwright_planner.events import Event as Event
from goalwright_planner.events import FileKept as FileKept
from goalwright_planner.events import FilePart as FilePart
from goalwright_planner.events import FileRead as FileRead
from goalwright_planner.events import ImagesGiven as ImagesGiven
from goalwright_planner.events import ModelLoaded as ModelLoaded
from goalwright_planner.events import ModelLoading as ModelLoading
from goalwright_planner.events import PlanChanged as PlanChanged
from goalwright_planner.events import PlanMade as PlanMade
from goalwright_planner.events import PlanRefused as PlanRefused
from goalwright_planner.events import PromptMade as PromptMade
from goalwright_planner.events import RecipeUse as RecipeUse
from goalwright_planner.events import Record as Record
from goalwright_planner.events import ReplanAsked as ReplanAsked
from goalwright_planner.events import ResultChecked as ResultChecked
from goalwright_planner.events import RunFinished as RunFinished
from goalwright_planner.events import RunNoted as RunNoted
from goalwright_planner.events import RunResumed as RunResumed
from goalwright_planner.events import RunStarted as RunStarted
from goalwright_planner.events import RunTagged as RunTagged
from goalwright_planner.events import SkillLoaded as SkillLoaded
from goalwright_planner.events import SkillPrint as SkillPrint
from goalwright_planner.events import SkillShortened as SkillShortened
from goalwright_planner.events import SkillsSelected as SkillsSelected
from goalwright_planner.events import TaskFinished as TaskFinished
from goalwright_planner.events import TaskReused as TaskReused
from goalwright_planner.events import TaskStarted as TaskStarted
from goalwright_planner.events import TextStreamed as TextStreamed
from goalwright_planner.events import ToolCalled as ToolCalled
from goalwright_planner.events import ToolLogged as ToolLogged
from goalwright_planner.events import ToolOutput as ToolOutput
from goalwright_planner.events import ToolReported as ToolReported
from goalwright_planner.events import ToolStarted as ToolStarted
from goalwright_planner.events import TurnResult as TurnResult
from goalwright_planner.events import TurnSummarised as TurnSummarised
from goalwright_planner.events import TurnTakenBack as TurnTakenBack
from goalwright_planner.events import Warned as Warned
from goalwright_planner.model import Message as Message
from goalwright_planner.model import Model as Model
from goalwright_planner.model import Reply as Reply
from goalwright_planner.model import Request as Request
from goalwright_planner.model import ToolCall as ToolCall
from goalwright_planner.model import ToolSpec as ToolSpec
from goalwright_planner.model import Usage as Usage
from goalwright_planner.plan.plan import Plan as Plan
from goalwright_planner.plan.task import Repeat as Repeat
from goalwright_planner.plan.task import ResultCheck as ResultCheck
from goalwright_planner.plan.task import Task as Task
from goalwright_skills.errors import BrokenSkill as BrokenSkill
from goalwright_skills.errors import GoalwrightError as GoalwrightError
from goalwright_skills.errors import InputError as InputError
from goalwright_skills.errors import SetupError as SetupError
from goalwright_skills.errors import SkillError as SkillError
from goalwright_skills.errors import UnknownSkill as UnknownSkill
from goalwright_skills.errors import UnreadableSkill as UnreadableSkill
from goalwright_skills.image_file import Image as Image
from goalwright_skills.selection.detector import Selection as Selection
from goalwright_skills.selection.detector import SkillDetector as SkillDetector
from goalwright_skills.skill import Skill as Skill
from goalwright_skills.tools.effects import Effects as Effects
from goalwright_skills.tools.effects import changes_file as changes_file
from goalwright_skills.tools.envelope import Envelope as Envelope
from goalwright_skills.tools.tool import Tool as Tool
from goalwright_skills.tools.tool import ToolFault as ToolFault

__all__ = [
    "Answer",
    "AnswerChecked",
    "AnswerJudged",
    "AnswerNeeded",
    "AnsweredAlready",
    "ApprovalAsked",
    "ApprovalGiven",
    "ApprovalRequest",
    "ApprovalRule",
    "Approve",
    "Artifact",
    "BadStore",
    "BatchGoal",
    "BatchObserver",
    "BatchOptions",
    "BatchReport",
    "BatchSummary",
    "BrokenSkill",
    "BudgetSpent",
    "CallBroken",
    "CallFailed",
    "CallFinished",
    "CallProgressed",
    "CallRetried",
    "CallStarted",
    "CallTimedOut",
    "CatalogueTaken",
    "CheckResult",
    "ClusterOptions",
    "Comparison",
    "ConditionChecked",
    "ContentRefused",
    "Conversation",
    "ConversationSummary",
    "ConversationTurn",
    "EarlierOutput",
    "EarlierOutputRead",
    "EarlierRun",
    "EarlierTurn",
    "Effects",
    "Envelope",
    "EvaluationOptions",
    "EvaluationReport",
    "Event",
    "FileKept",
    "FilePart",
    "FileRead",
    "FormatRefused",
    "Goal",
    "Goalwright",
    "GoalwrightError",
    "Halted",
    "Image",
    "ImagesGiven",
    "ImagesRefused",
    "InputError",
    "Interval",
    "InvalidPlan",
    "InvalidSettings",
    "KeyRefused",
    "LeaseLost",
    "Message",
    "Model",
    "ModelError",
    "ModelLoaded",
    "ModelLoading",
    "NoJournal",
    "NoRecipe",
    "NotAJournal",
    "NotRunning",
    "Overloaded",
    "Plan",
    "PlanChanged",
    "PlanError",
    "PlanMade",
    "PlanRefused",
    "Preview",
    "PromptMade",
    "PromptTooLong",
    "RateLimited",
    "Recipe",
    "RecipeExists",
    "RecipeParameter",
    "RecipeUse",
    "RecipeValueError",
    "Record",
    "RecordEnded",
    "Refused",
    "Repeat",
    "ReplanAsked",
    "Reply",
    "Request",
    "RequestRefused",
    "RerunPlan",
    "Result",
    "ResultCheck",
    "ResultChecked",
    "Review",
    "RunExists",
    "RunFinished",
    "RunHeld",
    "RunNoted",
    "RunResumed",
    "RunStarted",
    "RunTagged",
    "Score",
    "Selection",
    "ServerFailed",
    "Settings",
    "SetupError",
    "Skill",
    "SkillDetector",
    "SkillError",
    "SkillLoaded",
    "SkillNotUsed",
    "SkillPrint",
    "SkillShortened",
    "SkillsSelected",
    "Stop",
    "StoreFailed",
    "StoredTurn",
    "TakenBack",
    "Task",
    "TaskDenied",
    "TaskFinished",
    "TaskReport",
    "TaskReused",
    "TaskStarted",
    "TemplateError",
    "TextStreamed",
    "TooSlow",
    "Tool",
    "ToolCall",
    "ToolCalled",
    "ToolFailed",
    "ToolFault",
    "ToolLogged",
    "ToolOutput",
    "ToolReported",
    "ToolSpec",
    "ToolStarted",
    "ToolsRefused",
    "Transient",
    "TurnResult",
    "TurnSummarised",
    "TurnTakenBack",
    "UnknownModel",
    "UnknownPrice",
    "UnknownRequest",
    "UnknownRun",
    "UnknownSkill",
    "Unreachable",
    "UnreadableSkill",
    "Usage",
    "Variant",
    "VariantDifference",
    "VariantFigures",
    "Warned",
    "__version__",
    "changes_file",
    "evaluate",
    "run_batch",
    "run_goal",
    "run_goal_sync",
    "run_recipe",
]
