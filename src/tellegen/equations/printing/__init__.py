"""Every form of equations as text, LaTeX and JSON, over one explanation."""
