"""The public names of weft, for type checkers; `__init__.py` loads them when they are first used."""

from weft.batch.goals import BatchGoal as BatchGoal
from weft.batch.options import BatchOptions as BatchOptions
from weft.batch.options import ClusterOptions as ClusterOptions
from weft.batch.run_batch import BatchReport as BatchReport
from weft.batch.run_batch import run_batch as run_batch
from weft.batch.runner import BatchObserver as BatchObserver
from weft.batch.summary import BatchSummary as BatchSummary
from weft.evaluation.checks.answer_checks import CheckResult as CheckResult
from weft.evaluation.evaluate import EvaluationOptions as EvaluationOptions
from weft.evaluation.evaluate import evaluate as evaluate
from weft.evaluation.report import EvaluationReport as EvaluationReport
from weft.evaluation.report import VariantDifference as VariantDifference
from weft.evaluation.report import VariantFigures as VariantFigures
from weft.evaluation.scoring import Score as Score
from weft.evaluation.statistics import Comparison as Comparison
from weft.evaluation.statistics import Interval as Interval
from weft.evaluation.variant import Variant as Variant
from weft.runs.conversations.conversation import Conversation as Conversation
from weft.runs.conversations.conversation import TakenBack as TakenBack
from weft.runs.conversations.stored_turns import StoredTurn as StoredTurn
from weft.runs.goal import Goal as Goal
from weft.runs.preview import Preview as Preview
from weft.runs.recipes.recipe import NoRecipe as NoRecipe
from weft.runs.recipes.recipe import Recipe as Recipe
from weft.runs.recipes.recipe import RecipeParameter as RecipeParameter
from weft.runs.recipes.recipe import RecipeValueError as RecipeValueError
from weft.runs.run_goal import run_goal as run_goal
from weft.runs.run_goal import run_goal_sync as run_goal_sync
from weft.runs.run_goal import run_recipe as run_recipe
from weft.runs.runtime import Weft as Weft
from weft.runs.steps.reviewing import Review as Review
from weft.runs.stop import Stop as Stop
from weft.runs.stored.requests import AnsweredAlready as AnsweredAlready
from weft.runs.stored.requests import UnknownRequest as UnknownRequest
from weft.runs.stored.rerun import RerunPlan as RerunPlan
from weft.settings.settings import InvalidSettings as InvalidSettings
from weft.settings.settings import Settings as Settings
from weft.version import __version__ as __version__
from weft_executor.approvals.policy import ApprovalRule as ApprovalRule
from weft_executor.history.result import Result as Result
from weft_executor.history.result import TaskReport as TaskReport
from weft_executor.model_loop.task_runner import ToolFailed as ToolFailed
from weft_executor.results.kept_files import Artifact as Artifact
from weft_executor.stores.errors import BadStore as BadStore
from weft_executor.stores.errors import EarlierForm as EarlierForm
from weft_executor.stores.errors import LeaseLost as LeaseLost
from weft_executor.stores.errors import NotRunning as NotRunning
from weft_executor.stores.errors import RunExists as RunExists
from weft_executor.stores.errors import RunHeld as RunHeld
from weft_executor.stores.errors import StoreFailed as StoreFailed
from weft_executor.stores.errors import UnknownRun as UnknownRun
from weft_executor.stores.row import ConversationSummary as ConversationSummary
from weft_planner.approvals import Answer as Answer
from weft_planner.approvals import ApprovalRequest as ApprovalRequest
from weft_planner.approvals import Approve as Approve
from weft_planner.errors import AnswerNeeded as AnswerNeeded
from weft_planner.errors import BudgetSpent as BudgetSpent
from weft_planner.errors import CallTimedOut as CallTimedOut
from weft_planner.errors import ContentRefused as ContentRefused
from weft_planner.errors import FormatRefused as FormatRefused
from weft_planner.errors import Halted as Halted
from weft_planner.errors import ImagesRefused as ImagesRefused
from weft_planner.errors import KeyRefused as KeyRefused
from weft_planner.errors import ModelError as ModelError
from weft_planner.errors import Overloaded as Overloaded
from weft_planner.errors import PlanError as PlanError
from weft_planner.errors import PromptTooLong as PromptTooLong
from weft_planner.errors import RateLimited as RateLimited
from weft_planner.errors import RecordEnded as RecordEnded
from weft_planner.errors import Refused as Refused
from weft_planner.errors import RequestRefused as RequestRefused
from weft_planner.errors import ServerFailed as ServerFailed
from weft_planner.errors import SkillNotUsed as SkillNotUsed
from weft_planner.errors import TaskDenied as TaskDenied
from weft_planner.errors import TemplateError as TemplateError
from weft_planner.errors import ToolsRefused as ToolsRefused
from weft_planner.errors import TooSlow as TooSlow
from weft_planner.errors import Transient as Transient
from weft_planner.errors import UnknownModel as UnknownModel
from weft_planner.errors import UnknownPrice as UnknownPrice
from weft_planner.errors import Unreachable as Unreachable
from weft_planner.events import AnswerChecked as AnswerChecked
from weft_planner.events import AnswerJudged as AnswerJudged
from weft_planner.events import ApprovalAsked as ApprovalAsked
from weft_planner.events import ApprovalGiven as ApprovalGiven
from weft_planner.events import CallBroken as CallBroken
from weft_planner.events import CallFailed as CallFailed
from weft_planner.events import CallFinished as CallFinished
from weft_planner.events import CallProgressed as CallProgressed
from weft_planner.events import CallRetried as CallRetried
from weft_planner.events import CallStarted as CallStarted
from weft_planner.events import CatalogueTaken as CatalogueTaken
from weft_planner.events import ConditionChecked as ConditionChecked
from weft_planner.events import ConversationTurn as ConversationTurn
from weft_planner.events import EarlierOutput as EarlierOutput
from weft_planner.events import EarlierOutputRead as EarlierOutputRead
from weft_planner.events import EarlierRun as EarlierRun
from weft_planner.events import EarlierTurn as EarlierTurn
from weft_planner.events import Event as Event
from weft_planner.events import FileKept as FileKept
from weft_planner.events import FilePart as FilePart
from weft_planner.events import FileRead as FileRead
from weft_planner.events import ImagesGiven as ImagesGiven
from weft_planner.events import ModelLoaded as ModelLoaded
from weft_planner.events import ModelLoading as ModelLoading
from weft_planner.events import PlanChanged as PlanChanged
from weft_planner.events import PlanMade as PlanMade
from weft_planner.events import PlanRefused as PlanRefused
from weft_planner.events import PromptMade as PromptMade
from weft_planner.events import RecipeUse as RecipeUse
from weft_planner.events import Record as Record
from weft_planner.events import ReplanAsked as ReplanAsked
from weft_planner.events import ResultChecked as ResultChecked
from weft_planner.events import RunFinished as RunFinished
from weft_planner.events import RunNoted as RunNoted
from weft_planner.events import RunResumed as RunResumed
from weft_planner.events import RunStarted as RunStarted
from weft_planner.events import RunTagged as RunTagged
from weft_planner.events import SkillLoaded as SkillLoaded
from weft_planner.events import SkillPrint as SkillPrint
from weft_planner.events import SkillShortened as SkillShortened
from weft_planner.events import SkillsSelected as SkillsSelected
from weft_planner.events import TaskFinished as TaskFinished
from weft_planner.events import TaskReused as TaskReused
from weft_planner.events import TaskStarted as TaskStarted
from weft_planner.events import TextStreamed as TextStreamed
from weft_planner.events import ToolCalled as ToolCalled
from weft_planner.events import ToolLogged as ToolLogged
from weft_planner.events import ToolOutput as ToolOutput
from weft_planner.events import ToolReported as ToolReported
from weft_planner.events import ToolStarted as ToolStarted
from weft_planner.events import TurnResult as TurnResult
from weft_planner.events import TurnSummarised as TurnSummarised
from weft_planner.events import TurnTakenBack as TurnTakenBack
from weft_planner.events import Warned as Warned
from weft_planner.model import Message as Message
from weft_planner.model import Model as Model
from weft_planner.model import Reply as Reply
from weft_planner.model import Request as Request
from weft_planner.model import ToolCall as ToolCall
from weft_planner.model import ToolSpec as ToolSpec
from weft_planner.model import Usage as Usage
from weft_planner.plan.forms.result_keys import ResultCheck as ResultCheck
from weft_planner.plan.plan import Plan as Plan
from weft_planner.plan.repeat import Repeat as Repeat
from weft_planner.plan.task import Task as Task
from weft_skills.errors import BrokenSkill as BrokenSkill
from weft_skills.errors import InputError as InputError
from weft_skills.errors import SetupError as SetupError
from weft_skills.errors import SkillError as SkillError
from weft_skills.errors import UnknownSkill as UnknownSkill
from weft_skills.errors import UnreadableSkill as UnreadableSkill
from weft_skills.errors import WeftError as WeftError
from weft_skills.image_file import Image as Image
from weft_skills.selection.detector import Selection as Selection
from weft_skills.selection.detector import SkillDetector as SkillDetector
from weft_skills.skill import Skill as Skill
from weft_skills.tools.effects import Effects as Effects
from weft_skills.tools.effects import changes_file as changes_file
from weft_skills.tools.envelope import Envelope as Envelope
from weft_skills.tools.fault import ToolFault as ToolFault
from weft_skills.tools.tool import Tool as Tool

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
    "EarlierForm",
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
    "Halted",
    "Image",
    "ImagesGiven",
    "ImagesRefused",
    "InputError",
    "Interval",
    "InvalidSettings",
    "KeyRefused",
    "LeaseLost",
    "Message",
    "Model",
    "ModelError",
    "ModelLoaded",
    "ModelLoading",
    "NoRecipe",
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
    "Weft",
    "WeftError",
    "__version__",
    "changes_file",
    "evaluate",
    "run_batch",
    "run_goal",
    "run_goal_sync",
    "run_recipe",
]
