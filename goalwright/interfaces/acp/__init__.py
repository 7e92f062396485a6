"""goalwright as an agent of the Agent Client Protocol: editors drive conversations of a workspace.

agent          what a client can call: sessions, prompts, modes (start reading here)
history        a recorded conversation as the updates that a client was sent
mcp_servers    the MCP servers that a client brings for a session
modes          how far a session may go without asking
permissions    what a run asks a person, asked through the client
prompt_blocks  a prompt's text, files and resource links as a goal
questions      which requests the next prompt answers
serve          the agent on standard input and output
session        one conversation, and the turn that runs
transport      messages by lines, bounded
updates        a run's events as what a client is told: plan, tool calls, answer

May import everything of goalwright except `cli` and `web`.
"""
