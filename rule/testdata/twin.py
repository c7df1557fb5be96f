#!/usr/bin/python3
"""A float64 twin of package rule, in plain NumPy.

    twin.py [OUT]       writes its numbers as JSON to OUT, or to standard output

It follows the equations of the documents, not the Go code: season.py is the learner of
forecasts; learners.py the gradient steps of the paper and beliefs with second derivatives,
answers.py gate, sets and intervals, and nodes.py the streams that nodes play with them.

Inputs come from a generator of one line, as multiples of a power of 2: they are the same
under every version of NumPy. What is computed has 10 digits here.
"""

import json
import sys

import nodes
import numpy as np
import season


def text(v, indent="\n"):
    """JSON, a line per tensor, keys sorted."""
    if isinstance(v, dict):
        entries = (indent + ' "' + k + '": ' + text(v[k], indent + " ") for k in sorted(v))
        return "{" + ",".join(entries) + indent + "}"
    return json.dumps(short(v), sort_keys=True, separators=(",", ":"))


def short(v):
    """Whole numbers as such, multiples of 2⁻¹⁴ with all their digits, others with 10."""
    if isinstance(v, (np.ndarray, np.generic)):
        v = v.tolist()
    if isinstance(v, dict):
        return {k: short(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [short(x) for x in v]
    if not isinstance(v, float):
        return v
    if v == int(v):
        return int(v)
    return float(v) if v * 2**14 % 1 == 0 else float(f"{v:.10g}")


if __name__ == "__main__":
    cases = {name: {"season": case} for name, case in season.cases().items()}
    cases |= {name: {"node": case} for name, case in nodes.cases().items()}
    with open(sys.argv[1], "w") if len(sys.argv) > 1 else sys.stdout as f:
        f.write(text(cases) + "\n")
