"""`goalwright chat`: a conversation at the terminal.

chat.py       Chat: turns and commands, one after the other
terminal.py   the prompt at a terminal: what is typed while a turn runs, Ctrl-C, approvals in place
line.py       the line itself: history, several lines, completion
turn_view.py  the turn that runs, drawn above the line
commands.py   what begins with `/`
page.py       the conversation in a browser
typed_goal.py files after `@` in a goal
"""
