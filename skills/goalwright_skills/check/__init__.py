"""What a good reviewer says about a skill: rules for SKILL.md, skill.yaml and functions, and fixes for some.

May import programs, functions, format and the ground below; never selection, builtin or manage. Start with `review`.

    review      all reports on a folder or on installed functions
    skill_file  the rules for SKILL.md, on `parts` of its text
    manifests   the rules for skill.yaml; `keys` finds unknown keys, `running` calls the tool
    docs_page   the rules for the docs page of functions
    wording     what descriptions, parameters and errors must say, in Chinese or another language
    fixing      what `--fix` changes
    finding     the values: `Finding` and `Report`
"""

from goalwright_skills.check.finding import Finding, Report
from goalwright_skills.check.fixing import fix
from goalwright_skills.check.review import review, review_function

__all__ = ["Finding", "Report", "fix", "review", "review_function"]
