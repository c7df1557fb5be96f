"""Nodes that answer and learn, one step after the other."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
import threading
import warnings
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, Any, Mapping, Optional, Sequence, Union

from ._arrays import plain
from ._program import Error, find_program
from .model import Model

Rows = Union[Mapping[int, Any], Mapping[str, Any], Sequence[Any]]  # by node, by name of its sensor, or one for every node


@dataclass
class Answer:
    """What nodes say in one step, by node, or by the name of its sensor if rows were."""

    time: int
    outputs: dict[Any, list[float]]
    sets: dict[Any, list[int]] = field(default_factory=dict)  # classes that it may be, of nodes that learn
    intervals: dict[Any, list[Any]] = field(default_factory=dict)  # or between which two numbers each output is
    error: Optional[str] = None  # what was refused, in words
    at: Optional[str] = None  # when the step is, where nodes forecast by the clock
    ahead: list[str] = field(default_factory=list)  # and for when their outputs are


class World:
    """A box with all nodes of a network, and the world that it meets: starts `wdgnn-agent` and speaks lines with it.

        with World("model.safetensors", nodes=50, learn={"preset": "auto"}) as world:
            answer = world.step(rows, links=links)
            world.tell(targets)

    model     a Model, or the path of its file
    nodes     how many there are, 0 to nodes-1
    learn     how they learn, as `learn` of agent.yaml: {"preset": "auto"}; None if they only answer
    cost      what they are told: by the task of the model, or "gradient" where tell has gradients, "curved" where it has curvatures, too
    scale     λmax of the graph, for models with the shift spectral, where it is another than that of training
    state     a folder for checkpoints, with which the next World goes on; None begins anew every time
    timeout   seconds that an answer may take
    more      further keys of agent.yaml, such as {"pace": {"deadline": "5s"}}
    config    a file agent.yaml of one's own instead of all of the above; its world must be lines

    Steps go on after those of the state or, of a model that forecasts, after those that its sensors read in training.
    report is what the box said of itself last, at the start, about once a second and at the end; dropped counts reports that
    others followed before anybody looked. Targets that no node can learn from are a ValueError where they are told; what the
    box alone knows to be wrong, such as a step that is long over or targets for a config of one's own, is a RuntimeWarning in
    its words. Another is about nodes of which no step named links.
    """

    def __init__(self, model: Union[Model, str, "os.PathLike[str]", None] = None, nodes: int = 0, *,
                 learn: Optional[Mapping[str, Any]] = None, cost: Optional[str] = None, scale: Optional[float] = None,
                 state: Optional[str] = None, timeout: float = 60.0, more: Optional[Mapping[str, Any]] = None,
                 config: Union[str, "os.PathLike[str]", None] = None) -> None:
        if (config is None) == (model is None or nodes < 1):
            raise ValueError("a World wants a model and a number of nodes, or a file agent.yaml in config")
        self.timeout = timeout
        self.report: dict[str, Any] = {}
        self.dropped = 0
        self._model = model
        self._cost = (more or {}).get("cost", cost)
        self._count = 0 if config is not None else nodes  # 0 where a file says how many there are
        self._refused = 0  # of what was shown and told, by the last report
        self._excused = False  # an answer since then said what was refused
        self._alone = False  # it was said that nobody named links
        self._config = None if config is None else os.path.abspath(config)
        self._text = "" if model is None else _agent_yaml(model, nodes, learn, cost, scale, state, more or {})
        self._time = -1
        self._lines: queue.Queue[Optional[str]] = queue.Queue()
        self._box: Optional[subprocess.Popen[str]] = None

    def __enter__(self) -> World:
        program = find_program("wdgnn-agent")
        if self._model is not None and not isinstance(self._model, Model):
            self._model = Model.load(self._model)
        self._folder = tempfile.TemporaryDirectory(prefix="wdgnn-world-")
        path = self._config
        if path is None:
            path = os.path.join(self._folder.name, "agent.yaml")
            with open(path, "w", encoding="utf-8") as f:
                f.write(self._text)
        self._log = open(os.path.join(self._folder.name, "log"), "w+", encoding="utf-8", errors="replace")
        self._box = subprocess.Popen([program, "--config", path], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=self._log, encoding="utf-8")
        assert self._box.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self._box.stdout,), daemon=True)
        self._reader.start()
        self.report, self._refused, self._excused, self._alone = {}, 0, False, False
        try:
            while not self.report:  # the first says which step is next
                if "error" in (said := self._hear("the box has not begun; its world must be lines")):
                    raise Error(said["error"])
        except BaseException as failed:
            self.__exit__(type(failed), failed, None)
            raise
        self._time = self.report.get("next", 0) - 1
        return self

    def __exit__(self, kind: Optional[type[BaseException]], err: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        box = self._box
        assert box is not None and box.stdin is not None
        try:
            try:
                box.stdin.close()  # the end of the lines ends the box
            except OSError:
                pass
            try:
                box.wait(self.timeout)
            except subprocess.TimeoutExpired:
                box.kill()
                box.wait()
            self._reader.join(self.timeout)
            self._drain()
            self._warn(3)
            if kind is None and box.returncode != 0:
                raise Error(self._last_words())
        finally:
            if box.stdout is not None:
                box.stdout.close()
            self._log.close()
            self._folder.cleanup()
            self._box = None

    def step(self, rows: Rows, *, links: Optional[Rows] = None, targets: Optional[Rows] = None, time: Optional[int] = None,
             at: Optional[str] = None) -> Answer:
        """Shows nodes what they observe, and returns what they answer.

        rows      what each observes, as many numbers as the model reads, NaN for one that is missing
        links     whom each hears from now on: nodes, or pairs of a node and a weight; None as before
        targets   what the answers should be, if that is known at once; see tell
        time      the step, if it is not the next one
        at        or, of models that forecast by the clock, a time such as "2026-03-29T23:45:00Z"
        """
        nodes = _nodes(self._count, rows=rows, links=links, targets=targets)
        self._check(nodes)
        if not any("row" in node for node in nodes):
            raise ValueError("a step wants rows: what nodes observe")
        step = self._time + 1 if time is None else time
        self._send({"at": at, "nodes": nodes} if at is not None else {"time": step, "nodes": nodes})
        while True:
            said = self._hear(f"no answer to step {step if at is None else at}")
            if "report" in said:
                continue
            if "time" not in said:
                raise Error(said["error"])
            if at is not None or said["time"] == step:
                self._time = max(self._time, said["time"])
                self._excused = self._excused or "error" in said
                return _parse(said, any("sensor" in node for node in nodes))

    def tell(self, targets: Optional[Rows] = None, *, gradients: Optional[Rows] = None,
             curvatures: Optional[Rows] = None, costs: Optional[Rows] = None,
             time: Optional[int] = None) -> None:
        """Tells nodes what their answers of a step should have been, of the last one unless time says.

        targets    by node a class, or as many numbers as the model gives; None where nobody knows
        gradients  with cost="gradient" instead: the slope of the cost at the answer
        curvatures with cost="curved", beside gradients: how steeply each changes, one number
        costs      with gradients, if known: the cost
        """
        nodes = _nodes(self._count, targets=targets, gradients=gradients, curvatures=curvatures, costs=costs)
        self._check(nodes)
        self._send({"time": self._time if time is None else time, "nodes": nodes})

    def _check(self, nodes: list[dict[str, Any]]) -> None:
        """Refuses targets and gradients that no node can learn from, as far as the model says which those are."""
        if not isinstance(self._model, Model):
            return
        outputs, sensors = self._model.outputs, self._model.info.get("forecast", {}).get("sensors")
        classes = (self._cost or self._model.info["meta"].get("task")) in ("cross-entropy", "classify")
        want = 1 if classes or sensors else outputs
        for node in nodes:
            who, key = node.get("sensor", node.get("node")), "gradient" if "gradient" in node else "target"
            value, wrong = node.get(key), ""
            if value is None:
                continue
            if isinstance(who, str) and who not in (sensors or []):
                wrong = "the model knows no sensor of that name"
            elif (key == "gradient") != (self._cost in ("gradient", "curved")):
                wrong = 'want targets, or gradients with cost="gradient" or "curved"'
            elif len(value) != want or not all(isinstance(v, (int, float)) or v is None and key == "target" for v in value):
                wrong = f"want {want} number{'s' if want > 1 else ''}"
            elif classes and value[0] not in range(-1, outputs):
                wrong = f"want a class from 0 to {outputs - 1}, or None where nobody knows"
            if wrong:
                raise ValueError(f"{key} {value} of {who!r}: {wrong}")

    def _send(self, line: dict[str, Any]) -> None:
        if self._box is None or self._box.stdin is None:
            raise Error("the world is not open; use it in a with statement")
        try:
            text = json.dumps(line, allow_nan=False)
        except ValueError:
            raise ValueError("what nodes are shown or told has an infinite number; want finite ones, NaN or None where nobody knows") from None
        try:
            self._box.stdin.write(text + "\n")
            self._box.stdin.flush()
        except OSError as err:
            self._box.wait(self.timeout)
            raise Error(self._last_words()) from err

    def _hear(self, late: str) -> dict[str, Any]:
        """Returns what the box says next, and keeps reports."""
        try:
            text = self._lines.get(timeout=self.timeout)
        except queue.Empty:
            raise Error(f"{late} within {self.timeout} s") from None
        if text is None:
            assert self._box is not None
            self._box.wait(self.timeout)
            raise Error(self._last_words())
        said: dict[str, Any] = json.loads(text)
        if "report" in said:
            self.report = said["report"]
            self._warn(4)
        return said

    def _warn(self, stacklevel: int) -> None:
        """Warns of what the box refused since the report before, unless an answer said so, and of nodes without links."""
        stats = self.report.get("stats", {})
        refused = sum(stats.get(key, 0) for key in ("bad_targets", "stale_lines", "stray_lines"))
        if refused > self._refused and not self._excused:
            self._log.flush()
            self._log.seek(0)
            words = "".join([line for line in self._log if "level=WARN" in line][-3:]).strip()
            warnings.warn(f"nodes were told what makes no sense, and did not learn from it; the box says\n{words}",
                          RuntimeWarning, stacklevel=stacklevel)
        self._refused, self._excused = refused, False
        if self.report.get("unlinked") and not self._alone:
            self._alone = True
            warnings.warn("no step has named links, and each node answers as if it were alone; give step links=… once, [] for none",
                          RuntimeWarning, stacklevel=stacklevel)

    def _read(self, stdout: IO[str]) -> None:
        try:
            for line in stdout:
                with self._lines.mutex:
                    waiting = self._lines.queue
                    if waiting and all(text.startswith('{"report"') for text in (waiting[-1], line)):
                        waiting[-1] = line  # nobody looked at the one before
                        self.dropped += 1
                        continue
                self._lines.put(line)
        finally:
            self._lines.put(None)

    def _drain(self) -> None:
        """Keeps the last report."""
        while True:
            try:
                text = self._lines.get_nowait()
            except queue.Empty:
                return
            if text is not None and text.startswith('{"report"'):
                self.report = json.loads(text)["report"]

    def _last_words(self) -> str:
        """Returns the end of what the box logged."""
        self._log.flush()
        self._log.seek(0)
        words = "".join(self._log.readlines()[-5:]).strip() or "wdgnn-agent ended without a word"
        code = None if self._box is None else self._box.returncode
        return words if code is None or code >= 0 else f"signal {-code} ended wdgnn-agent, whose last words are\n{words}"


def _agent_yaml(model: Any, nodes: int, learn: Optional[Mapping[str, Any]], cost: Optional[str], scale: Optional[float],
                state: Optional[str], more: Mapping[str, Any]) -> str:
    """Returns agent.yaml of one box with all nodes: JSON is YAML."""
    path = model.path if isinstance(model, Model) else os.fspath(model)
    keys: dict[str, Any] = {
        "run": "world", "host": 0, "model": os.path.abspath(path), "learn": learn, "cost": cost, "scale": scale,
        "state": None if state is None else os.path.abspath(state), "bus": {"kind": "none"}, "world": {"kind": "lines"},
    }
    keys.update(more)
    lines = [f"{key}: {json.dumps(value)}" for key, value in keys.items() if value is not None]
    return "\n".join([f"hosts: {{0: {{nodes: 0-{nodes - 1}}}}}", *lines]) + "\n"


_KEYS = {"rows": "row", "links": "links", "targets": "target", "gradients": "gradient", "curvatures": "curvature", "costs": "cost"}  # of a line


def _nodes(count: int, **said: Optional[Rows]) -> list[dict[str, Any]]:
    """Returns what is said of count nodes, 0 if that is not known, each with all that concerns it. None is nothing."""
    nodes: dict[Union[int, str], dict[str, Any]] = {}
    for name, values in said.items():
        if values is None:
            continue
        key = _KEYS[name]
        if count and not isinstance(values, Mapping) and len(values) != count:
            raise ValueError(f"{name} has {len(values)} entries for {count} nodes; want one for each, or a dict by node for some of them")
        pairs = values.items() if isinstance(values, Mapping) else enumerate(values)
        for node, value in pairs:
            if count and not isinstance(node, str) and not 0 <= node < count:
                raise ValueError(f"{name}: no node {node} among {count}, which count from 0")
            if value is None:
                continue
            value = plain(value)
            if key == "links":
                value.sort(key=lambda link: link[0] if isinstance(link, list) else link)
            elif key not in ("cost", "curvature") and not isinstance(value, list):
                value = [value]  # a class, or the only number of a row
            who = {"sensor": node} if isinstance(node, str) else {"node": int(node)}
            nodes.setdefault(*who.values(), who)[key] = value
    return list(nodes.values())


def _parse(said: dict[str, Any], named: bool) -> Answer:
    answer = Answer(said["time"], {}, error=said.get("error"), at=said.get("at"), ahead=said.get("for") or [])
    for out in said.get("outputs") or []:
        node = out["sensor"] if named else out["node"]
        answer.outputs[node] = out["output"]
        if "set" in out:
            answer.sets[node] = out["set"]
        if "intervals" in out:
            answer.intervals[node] = out["intervals"]
    return answer
