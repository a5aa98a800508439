"""YAML as text: the document with the places of its nodes, and how it is written and edited."""
