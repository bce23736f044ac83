"""Records of one airport that may be the same company: candidates and comparison."""
