"""The interface of a tool and the values that all tools share.

tool          the interface, and the exception that tools raise (start reading here)
parameter     parameters, their JSON schema, and the validation of arguments
envelope      the result of every call
artifacts     files that a call writes, and output that is too long for a model
effects       the consequences of a call, which decide whether a person is asked
current_call  the call in progress and the person behind the run
listing       the list of tools in a planner's prompt
form          forms that MCP servers ask people to fill in
disk_use      limits on disk space

May import the modules at the root of `skills` and `text`.
"""
