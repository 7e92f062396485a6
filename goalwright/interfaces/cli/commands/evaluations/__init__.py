"""`goalwright eval`: run.py evaluates cases, reports.py shows stored reports and scores recorded runs."""
