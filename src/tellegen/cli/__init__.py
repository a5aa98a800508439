"""The command line: each command calls one public function and prints what it gives."""
