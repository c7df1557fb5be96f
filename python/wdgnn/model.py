"""Models, as the program runs them."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Iterable, Optional, Union

from ._arrays import read_npy, write_graph, write_npy
from ._program import run_program

Path = Union[str, "os.PathLike[str]"]


class Model:
    """A model file. Numbers are those of the program, to the last bit: predict runs `wdgnn predict`.

    path     where the file is
    info     what `wdgnn inspect --json` says of it
    """

    def __init__(self, path: Path, info: dict[str, Any]) -> None:
        self.path = os.fspath(path)
        self.info = info

    @classmethod
    def load(cls, path: Path) -> Model:
        """Reads the model in a file of `wdgnn train`, `wdgnn online` or wdgnn_torch. One that does not fit is an Error."""
        return cls(path, json.loads(run_program("inspect", os.fspath(path), "--json")))

    @property
    def inputs(self) -> int:
        """Features that a node observes, F."""
        return int(self.info["architecture"]["in"])

    @property
    def outputs(self) -> int:
        """Numbers that a node answers with, C."""
        return int(self.info["outputs"])

    @property
    def operator(self) -> str:
        """The operator that makes S of a graph, such as "spectral"."""
        return str(self.info["meta"]["shift"])

    @property
    def delayed(self) -> bool:
        """Whether filters are delayed: the graph changes at every step, and information moves one hop per step."""
        return bool(self.info["meta"]["delayed"])

    @property
    def nodes(self) -> Optional[list[int]]:
        """Nodes that training read; None means all."""
        nodes: Optional[list[int]] = self.info["meta"].get("nodes")
        return nodes

    def predict(self, graph: Any, signals: Any, *, nodes: Optional[Iterable[int]] = None, directed: Optional[bool] = None,
                threads: int = 1) -> Any:
        """Returns what nodes answer, samples×nodes×outputs: an array of NumPy, or nested lists without it.

        graph     a file, edges or a matrix; or a matrix N×N, whose entry (i, j) is the weight with which node i hears
                  node j; with delayed filters one for each step, T×N×N
        signals   what nodes observe, samples×N×F (samples×N for F = 1); with delayed filters samples×T×N×F or T×N×F
        nodes     those that are asked; None means all
        directed  whether links of a file have a direction; of a matrix, unless it is said, whether it is not symmetric
        """
        with tempfile.TemporaryDirectory(prefix="wdgnn-") as folder:
            observed, out = os.path.join(folder, "signals.npy"), os.path.join(folder, "outputs.npy")
            write_npy(observed, signals)
            args = ["--signals", observed, "--out", out, "--threads", str(threads), *self._graph(folder, graph, directed)]
            if nodes is not None:
                args += ["--nodes", ",".join(str(int(n)) for n in nodes)]
            run_program("predict", self.path, *args)
            return read_npy(out)

    def shift(self, graph: Any, *, directed: Optional[bool] = None) -> Any:
        """Returns S of a graph, N×N, as the model is run with it; of a graph that changes T×N×N."""
        with tempfile.TemporaryDirectory(prefix="wdgnn-") as folder:
            out = os.path.join(folder, "shift.npy")
            args = self._graph(folder, graph, directed)
            run_program("export", self.path, "--onnx", os.path.join(folder, "model.onnx"), "--shift", out, *args)
            return read_npy(out)

    def export_onnx(self, path: Path, *, force: bool = False) -> None:
        """Writes the model in ONNX, for programs that know nothing of wdgnn; over a file that is there with force only."""
        run_program("export", self.path, "--onnx", os.fspath(path), *(["--force"] if force else []))

    @staticmethod
    def _graph(folder: str, graph: Any, directed: Optional[bool]) -> list[str]:
        """Returns the flags for a graph, which is written to the folder unless it is a file."""
        if isinstance(graph, (str, os.PathLike)):
            path = os.fspath(graph)
        else:
            path, lopsided = write_graph(folder, graph)
            directed = lopsided if directed is None else directed
        return ["--graph", path, *(["--directed"] if directed else [])]

    def __repr__(self) -> str:
        return f"Model({self.path!r}, {self.inputs} in, {self.outputs} out, {self.operator})"
