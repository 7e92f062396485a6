"""A local model as a server on loopback.

server           starts, shares and stops it; `server_process` is its process, `server_output` reads the output
endpoint         the server's address, and requests to it, such as measuring its speed
slots            assigns calls to the server's slots
prompt_fit       cuts prompts to the context window
prompt_states    saves the server's state after the fixed part of a prompt
speed            the measured speed of a model on this machine
time_limits      time limits of calls, from the speed
"""
