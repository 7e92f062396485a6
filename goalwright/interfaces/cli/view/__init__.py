"""The output of the command line, on a terminal or in a pipe.

output.py                          prints everything, to stdout and stderr
width.py                           fits text to a terminal
progress.py, live/, heartbeat.py   the progress of a run: lines, or a graph redrawn in place
event_text.py                      an event as one line
plan_graph.py                      the graph of a plan
answer.py                          the result of a run
result_target.py, whole_file.py    the files and folders of `-o`
timeline.py                        a recorded run
batch_progress.py                  the progress of a batch
reports/                           reports of a batch, an evaluation and the selection of skills

Commands import these modules. None of them runs a goal.
"""
