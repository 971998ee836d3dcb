"""Walks that choose their steps on the way, to a commanded velocity or under a push."""
