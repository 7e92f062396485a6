"""goalwright as an agent of the Agent Client Protocol: editors drive conversations of a workspace.

agent          the methods that a client calls: sessions, prompts, modes (start reading here)
session        one conversation and its current turn
updates        converts events of a run to session updates: plan, tool calls, answer
history        replays a recorded conversation as session updates
permissions    asks the client for approvals
modes          how far a session may go without asking
prompt_blocks  converts the blocks of a prompt to a goal
serve          the agent on stdin and stdout

May import everything of goalwright except `cli` and `web`.
"""
