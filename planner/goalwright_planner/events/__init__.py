"""The events of a run, as values: every step passes them to one `record` callable.

An event says what happened, not when or in which run: the journal adds that. To add an event, declare a class in one of
these modules. Type names and fields are part of recorded runs and exported traces: add new ones, with defaults, but
never rename or remove any.
"""

from goalwright_planner.events.approvals import *  # noqa: F403 - every event that is declared is public
from goalwright_planner.events.calls import *  # noqa: F403
from goalwright_planner.events.event import AnyEvent as AnyEvent
from goalwright_planner.events.event import Event as Event
from goalwright_planner.events.event import Record as Record
from goalwright_planner.events.event import decode as decode
from goalwright_planner.events.event import to_dict as to_dict
from goalwright_planner.events.event import type_of as type_of
from goalwright_planner.events.plans import *  # noqa: F403
from goalwright_planner.events.run import *  # noqa: F403
from goalwright_planner.events.selection import *  # noqa: F403
from goalwright_planner.events.tasks import *  # noqa: F403
