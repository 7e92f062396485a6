"""The public names of weft, for type checkers; `__init__.py` loads them when they are first used."""

from executor.approvals.policy import ApprovalRule as ApprovalRule
from executor.history.result import Result as Result
from executor.history.result import TaskReport as TaskReport
from executor.stores.errors import BadStore as BadStore
from executor.stores.errors import LeaseLost as LeaseLost
from executor.stores.errors import NotRunning as NotRunning
from executor.stores.errors import RunExists as RunExists
from executor.stores.errors import RunHeld as RunHeld
from executor.stores.errors import StoreFailed as StoreFailed
from executor.stores.errors import UnknownRun as UnknownRun
from executor.tasks.results.kept_files import Artifact as Artifact
from executor.tasks.runner import ToolFailed as ToolFailed
from planner.approvals import Answer as Answer
from planner.approvals import ApprovalRequest as ApprovalRequest
from planner.approvals import Approve as Approve
from planner.errors import AnswerNeeded as AnswerNeeded
from planner.errors import BudgetSpent as BudgetSpent
from planner.errors import CallTimedOut as CallTimedOut
from planner.errors import ContentRefused as ContentRefused
from planner.errors import FormatRefused as FormatRefused
from planner.errors import Halted as Halted
from planner.errors import KeyRefused as KeyRefused
from planner.errors import ModelError as ModelError
from planner.errors import Overloaded as Overloaded
from planner.errors import PlanError as PlanError
from planner.errors import PromptTooLong as PromptTooLong
from planner.errors import RateLimited as RateLimited
from planner.errors import RecordEnded as RecordEnded
from planner.errors import Refused as Refused
from planner.errors import RequestRefused as RequestRefused
from planner.errors import ServerFailed as ServerFailed
from planner.errors import TaskDenied as TaskDenied
from planner.errors import TemplateError as TemplateError
from planner.errors import ToolsRefused as ToolsRefused
from planner.errors import Transient as Transient
from planner.errors import UnknownModel as UnknownModel
from planner.errors import Unreachable as Unreachable
from planner.events import AnswerChecked as AnswerChecked
from planner.events import ApprovalAsked as ApprovalAsked
from planner.events import ApprovalGiven as ApprovalGiven
from planner.events import CallFailed as CallFailed
from planner.events import CallFinished as CallFinished
from planner.events import CallRetried as CallRetried
from planner.events import CallStarted as CallStarted
from planner.events import CatalogueTaken as CatalogueTaken
from planner.events import ConditionChecked as ConditionChecked
from planner.events import EarlierOutput as EarlierOutput
from planner.events import EarlierRun as EarlierRun
from planner.events import Event as Event
from planner.events import FileKept as FileKept
from planner.events import FilePart as FilePart
from planner.events import FileRead as FileRead
from planner.events import ModelLoaded as ModelLoaded
from planner.events import ModelLoading as ModelLoading
from planner.events import PlanChanged as PlanChanged
from planner.events import PlanMade as PlanMade
from planner.events import PlanRefused as PlanRefused
from planner.events import PromptMade as PromptMade
from planner.events import Record as Record
from planner.events import ReplanAsked as ReplanAsked
from planner.events import ResultChecked as ResultChecked
from planner.events import RunFinished as RunFinished
from planner.events import RunResumed as RunResumed
from planner.events import RunStarted as RunStarted
from planner.events import SkillLoaded as SkillLoaded
from planner.events import SkillPrint as SkillPrint
from planner.events import SkillsSelected as SkillsSelected
from planner.events import TaskFinished as TaskFinished
from planner.events import TaskReused as TaskReused
from planner.events import TaskStarted as TaskStarted
from planner.events import TextStreamed as TextStreamed
from planner.events import ToolCalled as ToolCalled
from planner.events import ToolLogged as ToolLogged
from planner.events import ToolStarted as ToolStarted
from planner.events import Warned as Warned
from planner.model import Message as Message
from planner.model import Model as Model
from planner.model import Reply as Reply
from planner.model import Request as Request
from planner.model import ToolCall as ToolCall
from planner.model import ToolSpec as ToolSpec
from planner.model import Usage as Usage
from planner.plan.forms.result_keys import ResultCheck as ResultCheck
from planner.plan.plan import Plan as Plan
from planner.plan.plan import Task as Task
from skills.errors import BrokenSkill as BrokenSkill
from skills.errors import InputError as InputError
from skills.errors import SetupError as SetupError
from skills.errors import SkillError as SkillError
from skills.errors import UnknownSkill as UnknownSkill
from skills.errors import UnreadableSkill as UnreadableSkill
from skills.errors import WeftError as WeftError
from skills.selection.detector import Selection as Selection
from skills.selection.detector import SkillDetector as SkillDetector
from skills.skill import Skill as Skill
from skills.tools.envelope import Envelope as Envelope
from skills.tools.fault import ToolFault as ToolFault
from skills.tools.tool import Tool as Tool
from weft.batch.goals import BatchGoal as BatchGoal
from weft.batch.options import BatchOptions as BatchOptions
from weft.batch.options import ClusterOptions as ClusterOptions
from weft.batch.run_batch import BatchReport as BatchReport
from weft.batch.run_batch import run_batch as run_batch
from weft.batch.runner import BatchObserver as BatchObserver
from weft.batch.summary import BatchSummary as BatchSummary
from weft.runs.answers import AnsweredAlready as AnsweredAlready
from weft.runs.answers import UnknownRequest as UnknownRequest
from weft.runs.goal import Goal as Goal
from weft.runs.preview import Preview as Preview
from weft.runs.rerun import RerunPlan as RerunPlan
from weft.runs.run_goal import run_goal as run_goal
from weft.runs.run_goal import run_goal_sync as run_goal_sync
from weft.runs.runtime import Weft as Weft
from weft.runs.steps.reviewing import Review as Review
from weft.runs.stop import Stop as Stop
from weft.settings.settings import InvalidSettings as InvalidSettings
from weft.settings.settings import Settings as Settings
from weft.version import __version__ as __version__

__all__ = [
    "Answer",
    "AnswerChecked",
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
    "CallFailed",
    "CallFinished",
    "CallRetried",
    "CallStarted",
    "CallTimedOut",
    "CatalogueTaken",
    "ClusterOptions",
    "ConditionChecked",
    "ContentRefused",
    "EarlierOutput",
    "EarlierRun",
    "Envelope",
    "Event",
    "FileKept",
    "FilePart",
    "FileRead",
    "FormatRefused",
    "Goal",
    "Halted",
    "InputError",
    "InvalidSettings",
    "KeyRefused",
    "LeaseLost",
    "Message",
    "Model",
    "ModelError",
    "ModelLoaded",
    "ModelLoading",
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
    "Record",
    "RecordEnded",
    "Refused",
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
    "RunResumed",
    "RunStarted",
    "Selection",
    "ServerFailed",
    "Settings",
    "SetupError",
    "Skill",
    "SkillDetector",
    "SkillError",
    "SkillLoaded",
    "SkillPrint",
    "SkillsSelected",
    "Stop",
    "StoreFailed",
    "Task",
    "TaskDenied",
    "TaskFinished",
    "TaskReport",
    "TaskReused",
    "TaskStarted",
    "TemplateError",
    "TextStreamed",
    "Tool",
    "ToolCall",
    "ToolCalled",
    "ToolFailed",
    "ToolFault",
    "ToolLogged",
    "ToolSpec",
    "ToolStarted",
    "ToolsRefused",
    "Transient",
    "UnknownModel",
    "UnknownRequest",
    "UnknownRun",
    "UnknownSkill",
    "Unreachable",
    "UnreadableSkill",
    "Usage",
    "Warned",
    "Weft",
    "WeftError",
    "__version__",
    "run_batch",
    "run_goal",
    "run_goal_sync",
]
