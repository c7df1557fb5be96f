"""Tests of the examples in Python: they say what the programs say.

    CHECKOUT=.. python3 -m unittest test_examples
"""

import json
import os
import sys
import tempfile
import unittest

import wdgnn

EXAMPLES = os.path.join(os.environ["CHECKOUT"], "examples")
for name in ("robots-python", "world-python"):
    sys.path.insert(0, os.path.join(EXAMPLES, name))

import robots  # noqa: E402
import world  # noqa: E402


class Robots(unittest.TestCase):
    def test_flies_and_learns_as_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = os.path.join(folder, "flight"), os.path.join(folder, "again")
            wdgnn.run_program("flock", "--out", first, "--train-flights", "20", "--epochs", "3", "--robots", "30", "--seconds", "1", "-q")
            wdgnn.run_program("flock", os.path.join(first, "model.safetensors"), "--out", second, "--robots", "30", "--seconds", "1",
                              "--online", "distributed", "--ungated", "-q")
            with open(os.path.join(second, "flight.json")) as f:
                said = json.load(f)
            for learn, row in ((False, "frozen"), (True, "learned")):
                total, final = robots.fly(first, learn, steps=100)
                want = said[row]["flights"][0]
                # Starts are recorded in float32.
                self.assertLess(abs(total / want["total"] - 1), 1e-3, row)
                self.assertLess(abs(final / want["final"] - 1), 1e-2, row)


class World(unittest.TestCase):
    def test_learns_as_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            first = os.path.join(folder, "first")
            wdgnn.run_program("init", first)
            config = os.path.join(first, "config.yaml")
            with open(config) as f:
                text = f.read()
            self.assertIn("shift: spectral", text)
            with open(config, "w") as f:
                f.write(text.replace("shift: spectral", "shift: symmetric").replace("epochs: 150", "epochs: 30"))
            wdgnn.run_program("train", config, "-q")
            said = json.loads(wdgnn.run_program("online", os.path.join(first, "run", "model.safetensors"), config, "-q", "--json"))
            self.assertAlmostEqual(world.play(first, None), said["frozen"]["accuracy"], places=9)
            self.assertAlmostEqual(world.play(first, {"preset": "auto"}), said["online"]["accuracy"], delta=0.01)


if __name__ == "__main__":
    unittest.main()
