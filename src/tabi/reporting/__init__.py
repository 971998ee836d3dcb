"""Output for people: text on"""
