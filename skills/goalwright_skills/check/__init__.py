"""Reviews skills: the rules for SKILL.md, skill.yaml and functions, and fixes for some of them.

review      reports on a folder or on installed functions (start reading here)
skill_file  the rules for SKILL.md, whose text `parts` splits
manifests   the rules for skill.yaml; `running` calls the tools
wording     the rules for descriptions, parameters and errors, in Chinese or another language
fixing      fixes mechanical problems
finding     `Finding` and `Report`

May import programs, functions, format and the modules below; never selection, builtin or manage.
"""

from goalwright_skills.check.finding import Finding, Report
from goalwright_skills.check.fixing import fix
from goalwright_skills.check.review import review, review_function

__all__ = ["Finding", "Report", "fix", "review", "review_function"]
