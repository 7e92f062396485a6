"""Commands about runs: run, plan, chat, resume, rerun, replan, approvals and changes. Start with run.py."""
