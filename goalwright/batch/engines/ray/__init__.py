"""The engine that runs goals in workers on a Ray cluster, or on this machine alone.

    engine.py            RayEngine: gives each goal to a worker, and to another one if that dies
    worker_group.py      WorkerGroup: the workers of a batch, checked, supervised and replaced
    placement.py         which worker gets the next goal
    worker.py            GoalWorker: what a worker does; Ray makes an actor of it
    worker_workspace.py  where its goals run: in the workspace here, or in what the batch has sent
    sent_flags.py        the settings of its command line, which its workers follow
    budget_channel.py    how a worker requests its part of the budget
    messages.py          what the two say to each other
    metrics.py           what is counted
    cluster.py           everything that Ray itself is asked for: the only module that imports it

Start with `RayEngine.run`.
"""
