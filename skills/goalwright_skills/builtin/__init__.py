"""The built-in tools of tasks, and the excel tools as an extra.

May import discovery, functions, tools and the layers below; never selection, manage or check. Start with `toolset`.
To add a tool, write a module like `read_file` and add a line to `toolset.TOOLS`.

    toolset         the table of tools, and the tools that a run or a skill may use
    tool_context    the values that a run passes to its tools
    skill_tool      Skill: loads a skill's instructions
    read_file       ReadFile; `reading_tool` is shared by the tools that read files
    search/         Grep and ListFiles
    writing/        WriteFile, EditFile, DeleteFile and MoveFile
    code/           python_run, shell_run and run_script
    web/            WebFetch and WebSearch
    plan_is_wrong   PlanIsWrong, offered by the run itself
    readable_roots  the paths that tools may read, and how they are opened safely
    excel/          excel_read, excel_write and excel_info, registered as entry points
"""
