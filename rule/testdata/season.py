"""The learner of forecasts, rule.Season, for all nodes at once.

Own taps are solved for anew at every truth, from the sum of all features so far in
place of a recursion, and averaging is a product with a whole matrix W. What a node
sends and what it answers are rounded to float32, as they travel and as users see them.

Weights are rounded to float32 as well.

Shapes: T steps, N nodes, C horizons, Z shifted inputs, p = lagged inputs and a 1.
"""

import numpy as np
from stream import Stream, letters, rounded


def metropolis(links):
    """W_ij = 1/(1 + the larger degree) for linked nodes, the rest on the diagonal."""
    degree = links.sum(1)
    w = np.where(links, 1 / (1 + np.maximum(degree[:, None], degree[None, :])), 0.0)
    return rounded(w + np.diag(1 - w.sum(1)))


class Learner:
    """All nodes: what they know by node and horizon."""

    def __init__(self, case):
        n, c, season = case["nodes"], len(case["horizons"]), case["season"]
        self.case, self.sigma = case, case["sigma"]              # N, C
        self.g, self.b = np.zeros((n, c)), np.zeros((n, c))
        self.table, self.seen = np.zeros((n, c, season)), np.zeros((n, c, season))
        columns = case["lagged"] + [case["inputs"]]
        moment = case["moment"][np.ix_(columns, columns)]
        self.root = np.linalg.cholesky(moment + 1e-4 * np.diag(np.diag(moment)))
        p = len(columns)
        self.taps = np.zeros((n, c, p))
        self.known = np.tile(case["learner"]["taps"] * np.eye(p), (n, c, 1, 1))  # the inverse of P
        self.answers, self.trained = np.zeros((n, c)), np.zeros((n, c))
        self.past = {}                                           # forecasts by step

    def tell(self, i, t, truth):
        """Node i hears the truth of step t, in all horizons whose forecast of it is still there."""
        for c, h in enumerate(self.case["horizons"]):
            if t - h in self.past:
                self.learn(i, c, t - h, truth)

    def learn(self, i, c, q, truth):
        s, past, sigma = self.case["learner"], self.past[q], self.sigma[i, c]
        base, f, first, phi = past["base"][i, c], past["f"][i, c], past["first"][i, c], past["phi"][i]
        self.answers[i, c] += min(abs(truth - past["answer"][i, c]), 6 * sigma)
        self.trained[i, c] += min(abs(truth - base), 6 * sigma)
        r = np.clip(truth - base, -3 * sigma, 3 * sigma)
        self.g[i, c] = s["forget"] * self.g[i, c] + f**2
        self.b[i, c] = s["forget"] * self.b[i, c] + f * r
        k = q % self.case["season"]
        self.seen[i, c, k] += 1
        self.table[i, c, k] += max(s["rate"], 1 / self.seen[i, c, k]) * (r - self.table[i, c, k])
        e = np.clip(truth - base - first - phi @ self.taps[i, c], -3 * sigma, 3 * sigma)
        self.known[i, c] += np.outer(phi, phi)
        self.taps[i, c] += np.linalg.solve(self.known[i, c], phi) * e

    def mix(self, w, heard):
        """One round of averaging; heard[i, j] is 0 where i did not hear j, and takes its own number."""
        for v in (self.g, self.b):
            sent = rounded(v)
            v[:] = (w * heard) @ sent + (w * (1 - heard)).sum(1)[:, None] * sent

    def answer(self, t, base, z):
        case, s = self.case, self.case["learner"]
        m, season = max(1, round(case["season"] / 48)), case["season"]
        near = self.table[:, :, [(t + d) % season for d in range(-m, m + 1)]].mean(2)
        f = near / (0.3 * self.sigma)
        first = f * self.b / (self.g + s["ridge"])
        phi = np.linalg.solve(self.root, np.c_[z[:, case["lagged"]], np.ones(len(z))].T).T
        learned = rounded(base + first + np.einsum("np,ncp->nc", phi, self.taps))
        opened = self.answers <= (1 + s["margin"]) * self.trained + s["slack"] * self.sigma
        y = np.where(opened, learned, base)
        self.past[t] = {"base": base, "f": f, "first": first, "phi": phi, "answer": y}
        return y, opened


def make(seed, nodes, horizons, season, steps, begin, learner):
    """One case: a stream, and what the learner makes of it."""
    draw = Stream(seed)
    inputs, lagged = 6, [0, 1, 3, 4]                             # two lags and a flag, shifted once
    links = np.zeros((nodes, nodes), bool)
    for i in range(1, nodes):
        for j in {i - 1, draw.below(i)}:
            links[i, j] = links[j, i] = True
    mixing = metropolis(links)
    z = draw.tensor(steps, nodes, inputs, bound=2)
    all_inputs = np.concatenate([z.reshape(-1, inputs), np.ones((steps * nodes, 1))], 1)
    case = {
        "nodes": nodes, "horizons": horizons, "season": season, "begin": begin, "inputs": inputs, "lagged": lagged,
        "learner": learner, "mixing": mixing, "shifted": z, "moment": np.round(all_inputs.T @ all_inputs / len(all_inputs) * 2**8) / 2**8,
        "sigma": 0.5 + draw.tensor(nodes, len(horizons), bound=0.25),
        "base": draw.tensor(steps, nodes, len(horizons), bound=2),
    }
    # The world: y† misses a season and a tap, and changes its mind in between.
    rhythm = draw.tensor(season, nodes, bound=1)
    truth = np.zeros((steps, nodes))
    for t in range(steps):
        sign = -1 if steps // 3 <= t < 2 * steps // 3 else 1
        before = max(t - horizons[0], 0)
        truth[t] = case["base"][before, :, 0] + sign * rhythm[(begin + t) % season] + 0.25 * z[before, :, 0]
    truth += draw.tensor(steps, nodes, bound=0.25)
    truth += [[30 * (draw.below(50) == 0) for _ in range(nodes)] for _ in range(steps)]
    # What nodes are told: (node, of which step, truth) by step; some never, some three steps late.
    told = [[] for _ in range(steps)]
    for t in range(steps):
        for i in range(nodes):
            fate = draw.below(10)
            at = t + 3 if fate == 1 else t
            if fate != 0 and at < steps:
                told[at].insert(len([1 for e in told[at] if e[1] < t]), [i, t, truth[t, i]])
    case["told"] = [[[i, begin + s, float(v)] for i, s, v in now] for now in told]
    heard = np.array([[[0 if links[i, j] and draw.below(8) == 0 else 1 for j in range(nodes)] for i in range(nodes)]
                      for _ in range(steps)])
    case["heard"] = heard
    written = {k: [letters(rows) for rows in case[k] * 16] for k in ("base", "shifted")}
    if learner is DEFAULT:
        written["learner"] = {}  # it is what nothing means
    return {**case, **run(case), **written}


def run(case):
    learner, out = Learner(case), {"answer": [], "open": [], "weight": []}
    for t, told in enumerate(case["told"]):
        for i, step, truth in told:
            learner.tell(i, step, truth)
        learner.mix(case["mixing"], case["heard"][t])
        y, opened = learner.answer(case["begin"] + t, case["base"][t], case["shifted"][t])
        out["answer"].append(y)
        out["open"].append(opened.astype(int))
        if t % 6 == 5:
            out["weight"].append(np.stack([learner.g, learner.b], 2))
    out = {k: np.array(v) for k, v in out.items()}
    n, c, p = learner.taps.shape
    below = np.tril_indices(p)
    spread = np.array([[np.linalg.inv(learner.known[i, k])[below] for k in range(c)] for i in range(n)])
    return {**out, "table": learner.table, "seen": learner.seen, "taps": learner.taps, "spread": spread,
            "answers": learner.answers, "trained": learner.trained}


DEFAULT = {"forget": 0.995, "rate": 0.2, "ridge": 30, "taps": 3000, "margin": 0.02, "slack": 10}
EAGER = {"forget": 0.95, "rate": 0.5, "ridge": 1, "taps": 5, "margin": 0.01, "slack": 1}

# name: seed, nodes, horizons, steps of a season, steps, the first of them, how it learns.
CASES = {
    "default": (1, 4, [2, 5], 7, 30, 0, DEFAULT),
    "eager": (2, 4, [1, 4], 7, 48, 1000, EAGER),
    "long season": (3, 2, [1, 3], 73, 42, 0, DEFAULT),
}


def cases():
    made = {name: make(*case) for name, case in CASES.items()}
    assert 0 < made["eager"]["open"].mean() < 1, "the bound never closes, or never opens"
    return made
