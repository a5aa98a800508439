"""Attacks with random and hostile input: properties tried for as long as one asks, each seed another set of examples."""
