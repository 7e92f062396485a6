"""weft: give it a goal; it weaves a task graph from the skills that fit, runs it in parallel and answers."""
