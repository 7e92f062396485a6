"""Goals with the skills that they should select, written before anything was tuned on them."""
