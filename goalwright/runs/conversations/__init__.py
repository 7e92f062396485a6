"""Conversations: chains of runs, each of which sees the goals and answers of earlier ones.

    conversation.py     Conversation: begins, resumes and takes back turns
    stored_turns.py     reads conversations from the journal
    fitting.py          selects the earlier turns that a turn sees, within a budget
    turn_prompt.py      renders earlier turns in prompts
    summaries.py        summarises earlier turns that no longer fit
    earlier_outputs.py  reads results of earlier turns that tasks refer to
    remarks.py          passes remarks of a person to tasks that have not begun

Start with `Conversation.turn`.
"""
