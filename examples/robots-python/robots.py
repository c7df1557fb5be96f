"""A simulator of robots that fly by a learned controller, and go on learning in flight. NumPy, and World of wdgnn.

    wdgnn flock --out flight                 # trains the controller, and leaves the start of a flight
    python3 robots.py flight [LEARN]         # LEARN: off, or on (default)

A robot senses the robots within 2 m and no others. The controller reads six numbers, X, and says an acceleration, u.
"""

import json
import sys

import numpy as np
import wdgnn

T, RADIUS, MOST = 0.01, 2.0, 10.0  # seconds of a step, metres, the largest acceleration in m/s²
CAP = 30.0                         # bound of the second pair of features, as in training
KAPPA, MARGIN, AHEAD = 10.0, 0.5, 0.3  # what the cost asks: weight, metres to keep, seconds to look ahead


def sense(p, v):
    """Returns who hears whom and the six features of every robot, sums over the robots j that robot i hears."""
    apart = p[:, None] - p                                   # p_i - p_j, N×N×2
    d = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
    heard = ((d < RADIUS) & ~np.eye(len(p), dtype=bool))[..., None]
    faster = (heard * (v[:, None] - v)).sum(1)               # Σ v_i - v_j: what it must lose to fly as they do
    near = (heard * apart / d[..., None] ** 4).sum(1)        # Σ (p_i - p_j)/d⁴: away from the nearest. Two robots that
    near = np.clip(near, -CAP, CAP)                          # nearly touch would give 10⁶, which no training has seen
    far = (heard * apart / d[..., None] ** 2).sum(1)         # Σ (p_i - p_j)/d²: away from all of them
    return heard, apart / d[..., None], d, np.hstack([faster, near, far])


def gradient(u, v, heard, direction, d):
    """Returns the slope of each robot's cost at its action, from what it senses itself.

    The cost is the variance of velocities around the robot, after its action and with neighbours that keep theirs,
    and the square of what it comes closer to a neighbour faster than (d - MARGIN) / AHEAD. What is beyond the
    largest acceleration moves nothing: its slope is 0.
    """
    after = v + T * np.clip(u, -MOST, MOST)
    n = 1 + heard.sum(1)
    mean = (after + (heard * v).sum(1)) / n
    closing = -(direction * (after[:, None] - v)).sum(2)
    excess = np.maximum(0, closing - (d - MARGIN) / AHEAD)[..., None] * heard
    slope = 2 * T / n * (after - mean - KAPPA * (excess * direction).sum(1))
    return np.where(np.abs(u) <= MOST, slope, 0)


def fly(folder, learn, steps=200):
    """Flies from the start of a recorded flight and returns the sum of velocity variations, and the last one."""
    with open(f"{folder}/events.jsonl") as events:
        start = next(event["frame"] for event in map(json.loads, events) if "frame" in event)
    p, v = (np.array(start[key]).reshape(-1, 2) for key in ("pos", "vel"))
    rule = {"preset": "paper", "step_size": {"value": 0.05}, "clip_norm": 1,
            "gate": "off", "coverage": 0}  # eq. (9), as wdgnn flock learns
    variation = []
    with wdgnn.World(f"{folder}/model.safetensors", nodes=len(p), learn=rule if learn else None,
                     cost="gradient" if learn else None) as world:
        for _ in range(steps):
            variation.append(((v - v.mean(0)) ** 2).sum() / len(v))
            heard, direction, d, x = sense(p, v)
            answer = world.step(x, links=[np.flatnonzero(row) for row in heard[..., 0]])
            u = np.array([answer.outputs[i] for i in range(len(p))])
            if learn:
                world.tell(gradients=gradient(u, v, heard, direction, d))
            u = np.clip(u, -MOST, MOST)
            p, v = p + T * v + T * T / 2 * u, v + T * u      # eq. (21)
    return sum(variation), variation[-1]


if __name__ == "__main__":
    total, final = fly(sys.argv[1], sys.argv[2:] != ["off"])
    print(f"velocity variation {total:.1f} in all, {final:.4f} at the end")
