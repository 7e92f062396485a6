"""`goalwright serve`: one workspace in a browser. Routes and event streams over the journal, skills and settings.

It holds no state of its own: everything is in the journal, the skills' folders and the settings. May import batch,
traces, doctor and everything below; only `cli` imports it. starlette and uvicorn are imported nowhere else.

    serve      binds the port, prints the address, runs the server until Ctrl-C
    app        the routes by path; `routes/` has one function for each
    guard      token, Host, Origin and the content policy, before anything else
    site       what the routes share: the workspace, its skills, the journal
    work       the runs that this process started, and their Stop
    tail       the rows of any process's run as they are written; `live/changes` tells when to look
    drafts     staged imports and uploaded files, kept for ten minutes
    goal_files the files of a request: named, or uploaded and then copied for the run
    shapes     values to JSON; `bodies` reads requests, `replies` answers them
    static/    the page: plain ES modules, no build step

Start reading with `app.py`.
"""
