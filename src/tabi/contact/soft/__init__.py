"""Contacts of soft soles and pads, whose nodes give way."""
