"""Pages of possible doubles: the list of pairs, and what users decide about a pair."""
