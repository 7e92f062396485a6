"""The command line. Start reading at `main.py`.

main.py              the `goalwright` command, and error reports
command_classes.py   lazy groups, and commands with grouped options
options.py           options that several commands share
configuration.py     from options to settings
execution.py         run a goal: progress, Ctrl-C, the result, the exit status
resume_command.py    the commands that are printed to continue a run
hints.py             the hints below an error
commands/            the commands
dialogs/             questions at the terminal
chat/                the conversation at the terminal
view/                output
"""
