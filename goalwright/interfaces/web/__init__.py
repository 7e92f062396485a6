"""`goalwright serve`: one workspace in a browser.

It holds no state of its own: everything is in the journal, the skill folders and the settings. Only `cli` imports it,
and only this package imports starlette and uvicorn.

    serve      binds the port, prints the address, runs the server until Ctrl-C
    app        the routes by path; `routes/` has their functions
    guard      checks token, Host and Origin, and adds the content policy
    site       what the routes share: the workspace, its skills, the journal
    work       the runs of this process: starting, stopping, queued answers
    tail       a run's events as any process writes them; `changes` wakes it, `streams` counts open streams
    drafts     staged skill imports and uploaded files, kept for ten minutes
    goal_files the files of a goal: named in the workspace, or uploaded and copied into the run's folder
    shapes     values to JSON; `bodies` parses requests, `replies` builds responses
    static/    the page: plain ES modules, no build step

Start reading with `app.py`.
"""
