"""Reports: one page that shows a model whole, as HTML, Markdown or PDF."""
