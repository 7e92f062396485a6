"""`goalwright batch`: batch.py reads the flags, run.py shows progress and the report."""
