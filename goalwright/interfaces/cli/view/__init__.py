"""What a terminal shows, and what is printed without one.

output.py, output_mode.py           everything that is printed goes through here
width.py                            text that fits a terminal
progress.py, live/, heartbeat.py     a run while it runs: lines, or a graph redrawn in place
event_text.py                       an event as a line
plan_graph.py                       a plan, drawn
answer.py                           a run's result
timeline.py, run_list.py            a recorded run, and a list of them
batch_progress.py                   a batch while it runs
reports/                            what was measured: a batch, an evaluation, the selection of skills

Commands import these modules, and these import the values they show; none of them runs anything.
"""
