"""Deciding what runs where and when. Everything here is pure: a snapshot in, a decision out."""
