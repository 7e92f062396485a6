"""The tools that tasks can have, and the excel tools as an extra.

May import discovery, functions, tools and the ground below; never selection, manage or check. Start with `toolset`.
To add a tool, write a module like `read_file`, and give it a line in `toolset.TOOLS`.

    toolset         a line for each tool, and which of them a run has
    tool_context    what a run gives them
    skill_tool      Skill: loads a skill's instructions
    read_file       ReadFile; `file_answer` is what tools that read files share
    search/         Grep and ListFiles
    writing/        WriteFile and EditFile
    code/           python_run, shell_run and run_script
    web/            WebFetch
    plan_is_wrong   PlanIsWrong, which a run offers itself
    allowed_tools   what a skill's `allowed-tools` leaves of them
    readable_roots  which paths they may read, and how a path is opened safely
    excel/          excel_read, excel_write and excel_info, offered as an entry point
"""
