"""The engine that runs goals in workers on a Ray cluster, or on this machine alone.

    engine.py     RayEngine: gives each goal to a worker, and to another one if that dies
    crew.py       Crew: the workers of a batch, checked, heard and replaced
    placement.py  which worker gets the next goal
    worker.py     GoalWorker: what a worker does; Ray makes an actor of it
    workplace.py  where its goals run: in the workspace here, or in what the batch has sent
    questions.py  how a worker asks for its part of the budget
    messages.py   what the two say to each other
    meters.py     what is counted for metrics
    cluster.py    everything that Ray itself is asked for: the only module that imports it

Start with `RayEngine.run`.
"""
