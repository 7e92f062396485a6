"""What can go wrong on the way to a local model.

SetupError
└── PullError            a model could not be fetched
    ├── NoSpace          the disk is full, or would be: nothing is left behind
    ├── WrongHash        what came is not the model: nothing is left behind
    ├── SourceGone       this source no longer has it: the next one is tried
    ├── Unreachable      this source does not answer: the next one is tried
    └── CutOff           the download broke off: what came is kept, the next pull goes on from there
"""

from __future__ import annotations

from skills.errors import SetupError


class PullError(SetupError):
    """A model could not be fetched."""

    code = "MODEL_NOT_PULLED"


class NoSpace(PullError):
    """The disk has no room for the model."""


class WrongHash(PullError):
    """The bytes that came are not the model's."""


class SourceGone(PullError):
    """A source says that it has no such file."""


class SourceUnreachable(PullError):
    """A source does not answer, or answers that it cannot now."""


class DownloadInterrupted(PullError):
    """A download ended before the file did."""
