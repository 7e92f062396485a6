"""`goalwright eval`: run.py evaluates cases, show.py shows a report again, score.py scores recorded runs."""
