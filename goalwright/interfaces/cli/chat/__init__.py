"""`goalwright chat`: a conversation at the terminal.

chat.py      Chat: its turns, its settings, and the goals that are typed
terminal.py  a chat at a terminal: input during a turn, Ctrl-C, approvals in place
prompt.py    the input line: history, several lines, completion
piped.py     a chat without a terminal
commands.py  the commands that begin with `/`
page.py      the conversation in a browser
"""
