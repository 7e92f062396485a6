"""The engine that runs goals in workers on a Ray cluster, or on this machine alone.

    engine.py     RayEngine: gives each goal to a worker, and to another one if that dies
    crew.py       Crew: the workers of a batch, checked, heard and replaced
    placement.py  which worker gets the next goal
    worker.py     GoalWorker: what a worker does; Ray makes an actor of it
    messages.py   what the two say to each other
    cluster.py    everything that Ray itself is asked for: the only module that imports it

Start with `RayEngine.run`.
"""
