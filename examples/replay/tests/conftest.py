pytest_plugins = ["weft.testing"]
