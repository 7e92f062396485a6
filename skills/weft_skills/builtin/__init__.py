"""The tools that tasks can have, and the excel tools as an extra.

May import discovery, functions, tools and the ground below; never selection, manage or check. Start with `skill_tool`.

    skill_tool      Skill(name, args): loads a skill's instructions
    toolset         which of them a run has
    file_tools      ReadFile
    allowed_tools   what a skill's `allowed-tools` leaves of them
    code/           python_run, shell_run and run_script
    web/            WebFetch
    writing/        WriteFile and EditFile
    search/         Grep and ListFiles
    readable_roots  which paths they may read, and how a path is opened safely
    excel/          excel_read, excel_write and excel_info, offered as an entry point

The descriptions and parameters that a model sees are frozen: recorded runs are replayed against them.
"""
