"""Sudare publishes data about people."""
