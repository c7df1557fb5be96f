"""Tests of the installed package. NumPy and PyTorch are tried where they are.

    CHECKOUT=.. python3 -m unittest test_wdgnn

with wdgnn and wdgnn-agent installed with the package, or on the PATH.
"""

import csv
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

import wdgnn
from wdgnn import _arrays

CHECKOUT = os.environ["CHECKOUT"]
DATA = os.path.join(CHECKOUT, "examples", "own-data")
MODEL = os.path.join(DATA, "model.safetensors")
GRAPH = os.path.join(DATA, "graph.csv")


def has(module):
    return importlib.util.find_spec(module) is not None


def lists(values):
    return values.tolist() if hasattr(values, "tolist") else values


def matrix(path, nodes):
    """Returns the adjacency matrix of a list of links."""
    a = [[0.0] * nodes for _ in range(nodes)]
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            i, j, w = int(row["src"]), int(row["dst"]), float(row.get("weight") or 1)
            a[i][j] = a[j][i] = w
    return a


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)


class Arrays(Files):
    def test_lists_are_what_numpy_reads_and_writes(self):
        values = [[[0.5, -1.0, 2.0]], [[0.1, 1e30, -0.0]]]
        with_numpy, _arrays.numpy = _arrays.numpy, None
        try:
            self.assertEqual(_arrays.write_npy(self.path("a.npy"), values), [2, 1, 3])
            back = _arrays.read_npy(self.path("a.npy"))
            with self.assertRaisesRegex(ValueError, "side by side"):
                _arrays.write_npy(self.path("b.npy"), [[1.0], [1.0, 2.0]])
        finally:
            _arrays.numpy = with_numpy
        self.assertEqual(len(back), 2)
        if with_numpy is not None:
            import numpy as np
            np.testing.assert_array_equal(np.load(self.path("a.npy")), np.array(values, np.float32))
            np.testing.assert_array_equal(np.array(back, np.float32), np.array(values, np.float32))
            _arrays.write_npy(self.path("c.npy"), values)
            with open(self.path("a.npy"), "rb") as one, open(self.path("c.npy"), "rb") as other:
                self.assertEqual(one.read()[-24:], other.read()[-24:])


class Models(Files):
    def test_predict_is_what_the_program_says(self):
        model = wdgnn.Model.load(MODEL)
        self.assertEqual((model.inputs, model.outputs, model.operator, model.delayed), (1, 5, "spectral", False))
        self.assertEqual(model.nodes, [5, 15, 25, 35, 45])
        signals = os.path.join(DATA, "signals.npy")
        wdgnn.run_program("predict", MODEL, "--graph", GRAPH, "--signals", signals, "--out", self.path("y.npy"))
        want = lists(_arrays.read_npy(self.path("y.npy")))
        observed = _arrays.read_npy(signals)
        got = model.predict(GRAPH, observed)
        self.assertEqual(lists(got), want)
        self.assertEqual(type(got).__module__, "numpy" if has("numpy") else "builtins")
        whole = lists(observed)
        self.assertEqual(lists(model.predict(matrix(GRAPH, 50), whole[:3])), want[:3])
        wdgnn.run_program("predict", MODEL, "--graph", GRAPH, "--signals", signals, "--out", self.path("two.npy"), "--nodes", "7,3")
        self.assertEqual(lists(model.predict(GRAPH, observed, nodes=[7, 3])), lists(_arrays.read_npy(self.path("two.npy"))))

    def test_predict_on_graphs_that_change(self):
        wdgnn.run_program("flock", "--out", self.path("flight"), "--train-flights", "3", "--epochs", "1", "--robots", "5",
                          "--seconds", "0.1", "-q")
        model = wdgnn.Model.load(self.path("flight/model.safetensors"))
        self.assertTrue(model.delayed)
        ring = [[float((i - j) % 4 in (1, 3)) for j in range(4)] for i in range(4)]
        line = [[float(abs(i - j) == 1) for j in range(4)] for i in range(4)]
        x = [[[0.1 * t, 0.2 * i, 0.3, -0.1 * i, 0.5, 1.0] for i in range(4)] for t in range(3)]
        y = lists(model.predict([ring, line, ring], x))
        self.assertEqual(_arrays.shape_of(y), [3, 4, 2])
        self.assertEqual(lists(model.predict([ring, line, line], x))[:2], y[:2])
        self.assertNotEqual(lists(model.predict([ring, line, line], x))[2], y[2])

    def test_shift_and_onnx(self):
        model = wdgnn.Model.load(MODEL)
        s = lists(model.shift(GRAPH))
        self.assertEqual(_arrays.shape_of(s), [50, 50])
        self.assertEqual(s, lists(model.shift(matrix(GRAPH, 50))))
        model.export_onnx(self.path("model.onnx"))
        self.assertGreater(os.path.getsize(self.path("model.onnx")), 5000)

    def test_mistakes_are_the_words_of_the_program(self):
        with self.assertRaisesRegex(wdgnn.Error, "no such file"):
            wdgnn.Model.load(self.path("nothing.safetensors"))
        model = wdgnn.Model.load(MODEL)
        with self.assertRaisesRegex(wdgnn.Error, "the model reads 1 features, the signals have 2"):
            model.predict(GRAPH, [[[0.0, 1.0]] * 50])
        with self.assertRaisesRegex(ValueError, "a matrix N×N"):
            model.predict([[1.0, 2.0]], [[0.0] * 50])


class Programs(unittest.TestCase):
    def test_a_checkout_is_a_package(self):
        done = subprocess.run([sys.executable, "-S", "-c", "import wdgnn; print(wdgnn.__version__)"], capture_output=True, text=True,
                              env={"PYTHONPATH": os.path.join(CHECKOUT, "python")})
        self.assertEqual((done.stdout, done.stderr), ("devel\n", ""))

    def test_version_is_that_of_the_package(self):
        self.assertEqual(wdgnn.__version__, importlib.metadata.version("wdgnn"))


class Worlds(Files):
    """The model has the shift spectral: boxes are given λmax."""

    def stream(self, steps):
        signals = lists(_arrays.read_npy(os.path.join(DATA, "stream_signals.npy")))[:steps]
        targets = lists(_arrays.read_npy(os.path.join(DATA, "stream_targets.npy")))[:steps]
        return signals, [int(t) for t in targets]

    def test_answers_are_those_of_a_stream(self):
        steps, learn = 40, {"preset": "own"}
        signals, targets = self.stream(steps)
        a = matrix(GRAPH, 50)
        links = [[j for j in range(50) if row[j]] for row in a]
        _arrays.write_npy(self.path("x.npy"), signals)
        _arrays.write_npy(self.path("y.npy"), [[float(t) if i in (5, 15, 25, 35, 45) else -1.0 for i in range(50)] for t in targets])
        _arrays.write_npy(self.path("g.npy"), a)
        with open(self.path("stream.yaml"), "w") as f:
            f.write(f"run: world\nhost: 0\nhosts: {{0: {{nodes: 0-49}}}}\nmodel: {MODEL}\nlearn: {json.dumps(learn)}\nscale: 6\n"
                    "bus: {kind: none}\nworld: {kind: stream, signals: x.npy, targets: y.npy, graph: g.npy, answers: said.jsonl}\n")
        subprocess.run([wdgnn.find_program("wdgnn-agent"), "--config", self.path("stream.yaml")], check=True, capture_output=True)
        with open(self.path("said.jsonl")) as f:
            want = [{o["node"]: o["output"] for o in json.loads(line)["outputs"]} for line in f]
        self.assertEqual(len(want), steps)
        with wdgnn.World(MODEL, nodes=50, learn=learn, scale=6) as world:
            for t in range(steps):
                answer = world.step(signals[t], links=links if t == 0 else None)
                self.assertEqual(answer.outputs, want[t], f"step {t}")
                self.assertIsNone(answer.error)
                world.tell({i: targets[t] for i in (5, 15, 25, 35, 45)})
        self.assertLessEqual({5, 15, 25, 35, 45}, set(answer.sets))
        self.assertTrue(world.report)

    def test_what_is_wrong_is_said(self):
        with wdgnn.World(MODEL, nodes=2, scale=1) as world:
            answer = world.step([[0.5], [0.5, 1.0]], links=[[1], [0]])
            self.assertIn(0, answer.outputs)
            self.assertIsNotNone(answer.error)
            world._lines.put('{"report": {"next": 1}}')  # one a second comes between answers
            again = world.step([[0.5], [float("nan")]])
            self.assertEqual(world.report, {"next": 1})
            self.assertIsNotNone(again.error)
            with self.assertRaisesRegex(ValueError, "wants rows"):
                world.step({})
            with self.assertRaisesRegex(ValueError, "infinite"):
                world.step([[0.5], [float("inf")]])
            self.assertEqual(world.step([0.5, 0.5]).time, 2)  # what was not sent is no step
        with self.assertRaisesRegex(wdgnn.Error, "(?s)signal 9 ended wdgnn-agent.*msg=running"):
            with wdgnn.World(MODEL, nodes=2, scale=1) as world:
                world.step([0.5, 0.5])
                world._box.kill()
                world.step([0.5, 0.5])
        with self.assertRaisesRegex(wdgnn.Error, "scale"):
            with wdgnn.World(MODEL, nodes=2, scale=-1) as world:
                world.step([[0.5], [0.5]])
        with self.assertRaisesRegex(wdgnn.Error, "not open"):
            world.step([[0.5], [0.5]])
        with self.assertRaisesRegex(ValueError, "a model and a number of nodes"):
            wdgnn.World(MODEL)

    def test_nodes_without_links_are_said(self):
        with self.assertWarnsRegex(RuntimeWarning, "no step has named links"):
            with wdgnn.World(MODEL, nodes=2, scale=1) as world:
                world.step([0.5, 0.5])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with wdgnn.World(MODEL, nodes=2, scale=1) as world:
                world.step([0.5, 0.5], links=[[], []])

    def test_what_nobody_can_learn_from_is_said(self):
        with wdgnn.World(MODEL, nodes=2, scale=1, learn={"preset": "own"}) as world:
            world.step([0.5, 0.5], links=[[1], [0]])
            for told, words in (({1: 9}, "a class from 0 to 4"), ({1: 1.5}, "a class from 0"), ({1: [1, 2]}, "want 1 number"),
                                ({"attic": 2}, "no sensor of that name"), ({0: "red"}, "want 1 number"), ({0: float("nan")}, "a class from 0")):
                with self.assertRaisesRegex(ValueError, words):
                    world.tell(told)
                with self.assertRaisesRegex(ValueError, words):
                    world.step([0.5, 0.5], targets=told)
            with self.assertRaisesRegex(ValueError, "want targets"):
                world.tell(gradients={1: [0.0] * 5})
            world.tell({0: -1, 1: 4})
        self.assertEqual(world.report["stats"]["bad_targets"] + world.report["stats"]["stray_lines"], 0)
        with wdgnn.World(MODEL, nodes=2, scale=1, learn={"preset": "paper", "step_size": {"value": 0.1}}, cost="gradient") as world:
            world.step([0.5, 0.5], links=[[1], [0]])
            with self.assertRaisesRegex(ValueError, "want 5 numbers"):
                world.tell(gradients={1: [0.0] * 4})
            with self.assertRaisesRegex(ValueError, "want targets, or gradients with"):
                world.tell({1: 2})
        own = self.path("agent.yaml")
        with open(own, "w") as f:
            f.write(f"hosts: {{0: {{nodes: 0-1}}}}\nrun: own\nhost: 0\nmodel: {os.path.abspath(MODEL)}\nscale: 1\n"
                    "learn: {preset: own}\nbus: {kind: none}\nworld: {kind: lines}\n")
        for world, told in ((wdgnn.World(config=own), {"targets": {1: 9}}),
                            (wdgnn.World(MODEL, nodes=2, scale=1, learn={"preset": "own"}), {"targets": {1: 2}, "time": 7})):
            with self.assertWarnsRegex(RuntimeWarning, "(?s)did not learn from it.*WARN.*(class|time 7)"), world:
                world.step([0.5, 0.5], links=[[1], [0]])
                world.tell(**told)
        with wdgnn.World(MODEL, nodes=2, scale=1) as world:
            with self.assertRaisesRegex(ValueError, "rows has 1 entries for 2 nodes"):
                world.step([0.5])
            with self.assertRaisesRegex(ValueError, "links has 3 entries"):
                world.step([0.5, 0.5], links=[[0, 1], [1, 0], [0, 1]])
            world.step([0.5, 0.5])
            with self.assertRaisesRegex(ValueError, "targets: no node 2 among 2"):
                world.tell({2: 1})

    def test_reports_that_nobody_reads_do_not_pile_up(self):
        world = wdgnn.World(MODEL, nodes=2)
        report = '{"report": {"next": %d}}'
        world._read([report % 1, report % 2, report % 3, '{"time": 3}', report % 4])
        self.assertEqual(list(world._lines.queue), [report % 3, '{"time": 3}', report % 4, None])
        self.assertEqual(world.dropped, 2)

    def test_links_in_any_order_are_one_graph(self):
        row = [[0.5], [0.1], [-0.3]]
        said = []
        for links in ([[1, 2], [0, 2], [0, 1]], [[2, 1], [[2, 1.0], 0], [1, 0]]):
            with wdgnn.World(MODEL, nodes=3, scale=2) as world:
                said.append(world.step(row, links=links))
        self.assertIsNone(said[1].error)
        self.assertEqual(said[0].outputs, said[1].outputs)

    def test_sensors_by_name(self):
        house = os.path.join(CHECKOUT, "examples", "mqtt")
        with open(os.path.join(house, "readings.csv"), newline="") as f:
            readings = [{name: float(r[name] or "nan") for name in r if name != "time"} for r in csv.DictReader(f)]
        wdgnn.run_program("train", os.path.join(house, "config.yaml"), "--epochs", "1", "--out", self.path("run"), "-q")
        model = wdgnn.Model.load(self.path("run/model.safetensors"))
        with wdgnn.World(model, nodes=6, learn={}) as world:
            read = self.assert_forecasts(world.step(readings[0]), "2024-01-01T00:36:00Z")  # after what training replayed
            self.assert_forecasts(world.step(readings[1], at="2024-01-01T00:36:04Z"), "2024-01-01T00:36:04Z")
            self.assertEqual(world.step(readings[2]).time, read.time + 3)
            self.assertIn("no time", world.step(readings[3], at="yesterday").error)
            again = world.step({"attik": 15.0, "hall": 18.0})
            self.assertEqual((again.time, list(again.outputs)), (read.time + 4, ["hall"]))
            self.assertIn("attik", again.error)

    def assert_forecasts(self, answer, at):
        self.assertEqual((answer.at, answer.error), (at, None))
        self.assertEqual(sorted(answer.outputs), ["attic", "bath", "cellar", "hall", "kitchen", "porch"])
        self.assertEqual(len(answer.outputs["attic"]), len(answer.ahead))
        self.assertEqual(sorted(answer.intervals), sorted(answer.outputs))
        return answer

    def test_what_was_learned_stays_in_state(self):
        signals, targets = self.stream(6)
        links = [[1], [0]]
        outputs = []
        for part in (range(0, 3), range(3, 6)):
            with wdgnn.World(MODEL, nodes=2, scale=1, learn={"preset": "own"}, state=self.path("state")) as world:
                for t in part:
                    outputs.append(world.step(signals[t][:2], links=links, targets=[targets[t]] * 2).outputs)
        with wdgnn.World(MODEL, nodes=2, scale=1, learn={"preset": "own"}) as world:
            whole = [world.step(signals[t][:2], links=links, targets=[targets[t]] * 2).outputs for t in range(6)]
        self.assertEqual(outputs, whole)


@unittest.skipUnless(has("torch"), "SKIPPED: there is no torch")
class Torch(unittest.TestCase):
    def test_bridge_agrees_also_where_floats_are_double(self):
        import torch
        import wdgnn_torch
        model = wdgnn.Model.load(MODEL)
        x = lists(_arrays.read_npy(os.path.join(DATA, "signals.npy")))[:2]
        want = torch.tensor(lists(model.predict(GRAPH, x)))
        for kind in (torch.float32, torch.float64):
            torch.set_default_dtype(kind)
            try:
                network = wdgnn_torch.load(MODEL)
                got = network(wdgnn_torch.shift(torch.tensor(matrix(GRAPH, 50)), model.operator), torch.tensor(x))
            finally:
                torch.set_default_dtype(torch.float32)
            self.assertLess((got - want).abs().max().item(), 1e-5 * want.abs().max().item())


if __name__ == "__main__":
    unittest.main()
