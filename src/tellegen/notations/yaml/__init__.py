"""YAML as text: the document with the places of its nodes, edits that keep everything else, and quoting."""
