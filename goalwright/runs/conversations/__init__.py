"""Conversations: chains of runs, each of which sees what the earlier ones came to.

    conversation.py  Conversation: turns, begun, resumed and taken back
    stored_turns.py  what the journal has of a conversation
    fitting.py       what a turn sees of earlier ones, within a budget
    turn_prompt.py   how that is said in prompts
    summaries.py     earlier turns that have no room any more, summed up once
    earlier_outputs.py  results of earlier turns that tasks refer to
    remarks.py       what a person says while a turn runs

Start with `Conversation.turn`.
"""
