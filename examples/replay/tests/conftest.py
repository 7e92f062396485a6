pytest_plugins = ["goalwright.testing"]
