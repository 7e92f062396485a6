"""The errors of pulling a local model.

SetupError
└── PullError                a model could not be pulled
    ├── NoSpace              the disk is full, or would be; no file is kept
    ├── WrongHash            the file is not the model; no file is kept
    ├── SourceGone           this source no longer has it; the next one is tried
    ├── SourceUnreachable    this source does not answer; the next one is tried
    └── DownloadInterrupted  the partial download is kept, and the next pull resumes it
"""

from __future__ import annotations

from goalwright_skills.errors import SetupError


class PullError(SetupError):
    """A model could not be pulled."""

    code = "MODEL_NOT_PULLED"


class NoSpace(PullError):
    """The disk has no room for the model."""


class WrongHash(PullError):
    """The downloaded file is not the model."""


class SourceGone(PullError):
    """A source no longer has the file."""


class SourceUnreachable(PullError):
    """A source does not answer, or is unavailable."""


class DownloadInterrupted(PullError):
    """A download ended early."""
