"""The engine that runs goals in workers on a Ray cluster, or on this machine alone.

    engine.py         RayEngine: gives each goal to a worker, and to another one if that worker dies
    worker_group.py   WorkerGroup: checks, supervises and replaces the workers of a batch
    placement.py      chooses the worker for the next goal
    worker.py         GoalWorker: runs goals in a worker process, which is a Ray actor
    sent_settings.py  requirements of a cluster, and the settings that workers follow
    messages.py       the messages between a batch and its workers
    metrics.py        metrics for Ray's Prometheus port
    cluster.py        all use of Ray itself: the only module that imports it

Start with `RayEngine.run`.
"""
