"""The command line: it reads arguments, prints, and exits. Everything else happens in the wings below.

May import every other wing; nothing imports this one. Start reading at `main.py`.

main.py         the `goalwright` command and how every error is reported
lazy_group.py   command groups whose subcommands are imported when they are used
options.py      options that several commands share, and how they become settings
found_workspace.py
                the workspace of a command that names none
execution.py    run a goal for a command: progress, Ctrl-C, the result, the exit status
dialogs/        what a person is asked at the terminal
answer_options.py, request_text.py
                the answers to what a run asks, in options; what it asks, as text
commands/       one module for each command, in groups
view/           what a terminal shows
"""
