"""Recorded runs: finding, showing, comparing, replaying, importing and deleting them, without model calls.

read.py                        find runs in the journal or in exported files
timeline.py, diff.py           the timeline of a run; the differences of two runs
strict_replay.py, reselect.py  repeat a run with its recorded replies; repeat the selection of skills
drawing/                       plans as text and pictures
transfer.py                    import runs into a journal, and delete them

May import runs and everything below. Start reading at `read.py`.
"""
