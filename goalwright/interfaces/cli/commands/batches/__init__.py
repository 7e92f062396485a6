"""`goalwright batch`: batch.py parses the flags, run.py shows progress and the report."""
