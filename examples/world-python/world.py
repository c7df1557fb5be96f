"""A world of one's own: shows nodes what they observe, step by step, and tells some of them what was right.

    wdgnn init first                                             # data to begin with
    sed -i 's/shift: spectral.*/shift: symmetric/' first/config.yaml    # an operator that nodes can compute themselves
    wdgnn train first/config.yaml
    python3 world.py first

The world is a network of 50 nodes that loses links and gets others. Put sensors, a game or a simulator in its place.
"""

import csv
import sys

import numpy as np
import wdgnn


def links_by_step(path, nodes):
    """Returns by step, for those in which the graph changes, whom each node hears."""
    steps = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            heard = steps.setdefault(int(row["time"]), [[] for _ in range(nodes)])
            heard[int(row["src"])].append(int(row["dst"]))
            heard[int(row["dst"])].append(int(row["src"]))
    return steps


def play(folder, learn):
    """Plays the stream in a folder and returns the share of right answers of the nodes that are asked."""
    signals = np.load(f"{folder}/stream_signals.npy")            # steps×nodes×features
    classes = np.load(f"{folder}/stream_targets.npy").astype(int)  # one for every step
    links = links_by_step(f"{folder}/stream_graph.csv", signals.shape[1])
    model = wdgnn.Model.load(f"{folder}/run/model.safetensors")
    right = []
    with wdgnn.World(model, nodes=signals.shape[1], learn=learn) as world:
        for step, (rows, truth) in enumerate(zip(signals, classes)):
            answer = world.step(rows, links=links.get(step))
            right += [np.argmax(answer.outputs[node]) == truth for node in model.nodes]
            world.tell({node: truth for node in model.nodes})    # they learn, and tell their neighbours
    return np.mean(right)


if __name__ == "__main__":
    print(f"frozen {play(sys.argv[1], None):.1%}, learning {play(sys.argv[1], {'preset': 'auto'}):.1%} right")
