"""What a case can check without a judge, each kind in a module of its own; `check` reads them from a case.

answer_checks   of the answer and the run's figures
regex_check     of the answer, in a process that can be ended (`regex_worker`)
file_check      of the files that a run left
command_check   by a program, which needs trust
"""
