"""Exercises for students made from models, and what their answers are worth."""
