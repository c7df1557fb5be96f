"""Checks ONNX files with Debian's onnx, and computes them with NumPy.

    check.py CASES.json

CASES.json is a list of {name, onnx, shift, signals, want, delayed}. Prints for each the largest difference and
the largest output, as JSON.
"""

import json
import sys

import numpy as np
import onnx
from onnx import numpy_helper

OPERATORS = {
    "MatMul": lambda a, b: a @ b,
    "Add": lambda a, b: a + b,
    "Mul": lambda a, b: a * b,
    "Relu": lambda a: np.maximum(a, 0),
    "Tanh": lambda a: np.tanh(a),
}


def run(model, feeds):
    values = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    assert set(feeds) == {i.name for i in model.graph.input}
    values.update(feeds)
    for node in model.graph.node:
        values[node.output[0]] = OPERATORS[node.op_type](*(values[name] for name in node.input))
    return {o.name: values[o.name] for o in model.graph.output}


def steps(case, model, shifts, signals):
    """Yields the outputs of delayed filters, step by step."""
    line = {}
    for S, X in zip(shifts, np.moveaxis(signals, 1, 0)):
        for i in model.graph.input:
            if i.name.startswith("line."):
                width = i.type.tensor_type.shape.dim[2].dim_value
                line.setdefault(i.name, np.zeros((*X.shape[:2], width), np.float32))
        out = run(model, {"S": S, "X": X, **line})
        line = {name.replace("next.", "line."): v for name, v in out.items() if name != "Y"}
        yield out["Y"]


results = []
for case in json.load(open(sys.argv[1])):
    model = onnx.load(case["onnx"])
    onnx.checker.check_model(model, full_check=True)
    shift, signals, want = (np.load(case[key]) for key in ("shift", "signals", "want"))
    if case["delayed"]:
        got = np.stack(list(steps(case, model, shift, signals)), axis=1)
    else:
        got = run(model, {"S": shift, "X": signals})["Y"]
    assert got.shape == want.shape and got.dtype == np.float32, (case["name"], got.shape, want.shape, got.dtype)
    results.append({"name": case["name"], "difference": float(abs(got - want).max()), "largest": float(abs(want).max())})
print(json.dumps(results))
