"""The checks of a case, without a judge.

check.py          parses a check from a case file
answer_checks.py  checks of the answer, the figures and the files of a run
regex_check.py    regular expressions, matched in a child process (regex_worker.py)
command_check.py  checks that run a trusted program
"""
