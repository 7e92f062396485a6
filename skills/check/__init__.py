"""What a good reviewer says of a skill: rules for SKILL.md, manifests and functions, and their mending."""

from skills.check.finding import Finding, Report
from skills.check.fixing import fix
from skills.check.review import review, review_function

__all__ = ["Finding", "Report", "fix", "review", "review_function"]
