"""The process in which one case runs once: `python -m benchmarks.child ORDER`, ORDER being JSON. Prints JSON."""

import json
import sys

from benchmarks.harness import run_order

if __name__ == "__main__":
    print(json.dumps(run_order(json.loads(sys.argv[1]))))
