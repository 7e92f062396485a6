"""The version, for modules that must not import all of goalwright."""

__version__ = "0.1.0"
