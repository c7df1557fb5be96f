"""Arrays of float32 in .npy files, with NumPy if it is there and as nested lists if not."""

from __future__ import annotations

import array
import ast
import os
import struct
import sys
from typing import Any, Sequence

try:
    import numpy
except ImportError:  # it is an extra
    numpy = None  # type: ignore[assignment]


def plain(values: Any) -> Any:
    """Returns numbers as JSON has them: nested lists and floats, None for those that are not numbers."""
    if hasattr(values, "tolist"):  # of NumPy, or a tensor
        values = values.tolist()
    if isinstance(values, (list, tuple)):
        return [plain(v) for v in values]
    if isinstance(values, float) and values != values:
        return None
    return values


def shape_of(values: Any) -> list[int]:
    """Returns the shape of nested lists. Lists of different lengths are a ValueError."""
    if not isinstance(values, list):
        return []
    if not values:
        return [0]
    shapes = [shape_of(v) for v in values]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError(f"lists of shapes {min(shapes)} and {max(shapes)} side by side: want one shape")
    return [len(values), *shapes[0]]


def write_npy(path: str, values: Any) -> list[int]:
    """Writes numbers as float32 and returns their shape."""
    if numpy is not None:
        whole = numpy.ascontiguousarray(values, dtype=numpy.float32)
        numpy.save(path, whole)
        return list(whole.shape)
    values = plain(values)
    shape = shape_of(values)
    flat = array.array("f", [float("nan") if v is None else v for v in _flatten(values)])
    if sys.byteorder != "little":
        flat.byteswap()
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}".encode("latin1")
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + flat.tobytes())
    return shape


def read_npy(path: str) -> Any:
    """Returns an array as wdgnn writes them: of NumPy, or nested lists."""
    if numpy is not None:
        return numpy.load(path)
    with open(path, "rb") as f:
        data = f.read()
    end = 10 + struct.unpack("<H", data[8:10])[0]
    flat = array.array("f", data[end:])
    if sys.byteorder != "little":
        flat.byteswap()
    return _fold(flat.tolist(), ast.literal_eval(data[10:end].decode("latin1"))["shape"])


def _flatten(values: Any) -> Any:
    if not isinstance(values, list):
        yield values
        return
    for v in values:
        yield from _flatten(v)


def _fold(flat: list[float], shape: Sequence[int]) -> Any:
    if len(shape) <= 1:
        return flat
    each = len(flat) // shape[0] if shape[0] else 0
    return [_fold(flat[k * each:(k + 1) * each], shape[1:]) for k in range(shape[0])]


def write_graph(folder: str, graph: Any) -> tuple[str, bool]:
    """Writes a graph that is not a file: a matrix N×N, or T of them as a list of links with a time column.

    Entry (i, j) is the weight with which node i hears node j. Returns the path, and whether links have a direction.
    """
    matrix = plain(graph)
    shape = shape_of(matrix)
    if len(shape) not in (2, 3) or shape[-1] != shape[-2]:
        raise ValueError(f"a graph of shape {shape}: want a file, a matrix N×N, or T of them, T×N×N")
    steps = [matrix] if len(shape) == 2 else matrix
    directed = any(a[i][j] != a[j][i] for a in steps for i in range(shape[-1]) for j in range(i))
    if len(shape) == 2:
        path = os.path.join(folder, "graph.npy")
        write_npy(path, matrix)
        return path, directed
    path = os.path.join(folder, "graph.csv")
    with open(path, "w", encoding="ascii") as f:
        f.write("src,dst,weight,time\n")
        for t, a in enumerate(steps):
            for i, row in enumerate(a):
                for j, weight in enumerate(row if directed else row[:i]):
                    if weight:
                        f.write(f"{j},{i},{weight!r},{t}\n")
    return path, directed
