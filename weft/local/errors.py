"""What can go wrong when a local model is pulled.

SetupError
└── PullError                a model could not be pulled
    ├── NoSpace              the disk is full, or would be: nothing is left behind
    ├── WrongHash            the file is not the model: nothing is left behind
    ├── SourceGone           this source no longer has it: the next one is tried
    ├── SourceUnreachable    this source does not answer: the next one is tried
    └── DownloadInterrupted  the partial download is kept, and the next pull resumes it
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
