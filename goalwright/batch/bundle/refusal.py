"""What is wrong with a bundle."""

from __future__ import annotations

from goalwright_skills.errors import SetupError


class BundleRefused(SetupError):
    """The bundle was not made, or not used: nothing of it is left behind."""

    code = "BUNDLE_REFUSED"
