"""Decide what an import does with each row of a file; nothing is written."""

from groundtransport.transfer.planning.planner import Planner

__all__ = ["Planner"]
