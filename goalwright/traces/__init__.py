"""Recorded runs: find, show, compare, replay, export, import and delete them, all without calling a model.

read.py                        find runs in the journal or in exported files
timeline.py, diff.py           a run in time; two runs compared
strict_replay.py, reselect.py  run again with the recorded replies; select skills again
html_page.py, page_script.py   runs as one HTML page, with the modules of `goalwright serve` as its script
transfer.py                    import runs into a journal, and delete them

May import runs and everything below. Start reading at `read.py`.
"""
