"""A laboratory: a cluster on this machine with three workers and writers, in which parts fail. ``python -m lab``."""
