"""Nodes that answer and learn step by step, rule.Node with its Answers: streams for them, and what becomes of them.

A step is: hear whose links there are; answer; be told of this and earlier answers;
learn from all that was told, beside all others. Inputs, base outputs and truths that are
numbers are whole numbers of sixteenths, so that they are the same in every format; inputs
and base outputs are written as letters, P for 0. A link weighs 1/8.
"""

import numpy as np
from answers import Gate, Sure
from costs import COSTS
from learners import Owns, Paper
from stream import Stream, letters, rounded

EVERY = 6  # intervals are written at every sixth step


def numbers(words):
    return np.array([[np.nan if v == " " else (ord(v) - 80) / 16 for v in word] for word in words])


class World(Stream):
    """What a case draws: a model and a stream."""

    def __init__(self, seed, learn, cost="squares", nodes=3, steps=42, inputs=4, features=3, outputs=3, bias=False, gain=0.75,
                 moment=False, together=False, hearing=None, heard=(), late=(0,), lies=False, partly=False, turn=0.5, links=7,
                 scores=0):
        super().__init__(seed)
        self.case = c = {
            "learn": learn, "cost": cost, "inputs": inputs, "features": features, "bias": bias, "gain": gain, "together": together,
            "readout": self.whole(8, features, outputs) / 8 if outputs != features or gain != 1 else np.eye(outputs),
            "start": self.whole(8, inputs + bias, features) / 8, "moment": None, "hearing": hearing,
            "scores": [(self.whole(16, outputs, scores) / 16).tolist() for _ in range(nodes)],  # of earlier answers
        }
        self.nodes, self.steps, self.outputs, self.late, self.partly = nodes, steps, outputs, late, partly
        links = self.links(links, lies)
        self.met = [[j for j in range(nodes) if j != i] for i in range(nodes)]
        length = inputs + (hearing["hops"] * hearing["features"] * (nodes - 1) if hearing else 0)
        self.mix = self.whole(4, length, length) / 16 + np.eye(length) / 2
        if moment:
            c["moment"] = {"inputs": inputs, "count": 1, "mean": self.moment(inputs)}
        if heard:
            c["moment"]["heard"] = {str(i): {**hearing, "neighbors": self.met[i], "moment": self.moment(length)} for i in heard}
        c["links"], c["z"], c["base"] = [], [], []
        hidden = self.whole(24, nodes, length, outputs) / 16
        truth = []
        for t in range(steps):
            z, base = np.round(self.whole(32, nodes, length) @ self.mix).clip(-31, 31), self.whole(16, nodes, outputs)
            goal = base + np.einsum("nk,nkc->nc", z, hidden) * (1 if t < turn * steps else -1)
            if hearing:
                for i in range(nodes):
                    lost = np.repeat([links[t, i, j] == 0 for j in self.met[i]], hearing["hops"] * hearing["features"])
                    z[i, inputs:][lost] = np.nan
            truth.append(goal.argmax(1) if cost == "labels" else np.round(goal + self.whole(8, nodes, outputs)))
            c["links"].append("".join(str(int(v)) for v in links[t].ravel()))
            c["z"].append(letters(z))
            c["base"].append(letters(base))
        c["told"] = self.told(truth)

    def whole(self, most, *shape):
        """Whole numbers up to most, of either sign."""
        return np.array([self.below(2 * most + 1) - most for _ in range(np.prod(shape))], float).reshape(shape)

    def moment(self, inputs):
        """Σ of 64 rows, in whole numbers of 2⁻⁸."""
        rows = np.c_[np.round(self.whole(32, 64, len(self.mix)) @ self.mix)[:, :inputs] / 16, np.ones(64)]
        return (np.round(rows.T @ rows / 64 * 256) / 256).ravel()

    def links(self, every, lies):
        """Who hears whom, now and then somebody else; 2 on the diagonal says that a node lies in this step."""
        now, all = np.ones((self.nodes, self.nodes)) - np.eye(self.nodes), []
        for t in range(self.steps):
            if t % every == every - 2:
                i = self.below(self.nodes)
                j = (i + 1 + self.below(self.nodes - 1)) % self.nodes
                now[i, j] = now[j, i] = 1 - now[i, j]
            liar = np.diag([2.0 * (lies and self.below(12) == 0) for _ in range(self.nodes)])
            all.append(now + liar)
        return np.array(all)

    def told(self, truth):
        """By step: node, of which step, truth. Some are never told, some late, some twice."""
        told = [[] for _ in truth]
        for t in range(self.steps):
            for i in range(self.nodes):
                late = self.late[self.below(len(self.late))]
                if self.below(8) == 0 or t + late >= self.steps:
                    continue
                if self.case["cost"] == "labels":
                    v = [int(truth[t][i]) if self.below(10) else self.below(self.outputs)]
                else:
                    v = [None if self.partly and self.below(6) == 0 else int(x) for x in truth[t][i]]
                    if v == [None] * len(v):
                        v[0] = 0
                for _ in range(1 + (self.below(16) == 0 and not self.case["together"])):
                    told[t + late].append([i, t] + v)
        return told


def run(w):
    """What becomes of the nodes of a world."""
    c, n = w.case, w.nodes
    learn, cost = c["learn"], COSTS[c["cost"]](w.outputs)
    world = {**c, "omega": c["gain"] * c["readout"], "learners": 1 if c["together"] else n, "met": w.met}
    learner = (Owns if "newton" in learn else Paper)(world, cost)
    room = learn.get("delay", 0) + 1
    gates = [Gate(learn["gate"], cost, room - 1) if "gate" in learn else None for _ in range(n)]
    sure = [Sure(learn["conformal"], c["scores"][i]) if "conformal" in learn else None for i in range(n)]
    out = {k: [] for k in ("counts", "open", "sets", "y", "intervals", "taps")}
    given = [{} for _ in range(n)]
    for t in range(w.steps):
        links = np.array([int(v) for v in c["links"][t]]).reshape(n, n)
        z, base = numbers(c["z"][t]), numbers(c["base"][t])
        answers = []
        for i in range(n):
            at = 0 if c["together"] else i
            if "newton" in learn:
                learner.relink(i, [j for j in range(n) if j != i and links[i, j]])
            learned = rounded(learner.predict(at, base[i], z[i]))
            answer = learned
            if gates[i]:
                answer, learned = gates[i].give(t, learned, base[i])
            given[i][t] = z[i], base[i], answer, learned, sure[i] and sure[i].bounds()
            given[i].pop(t - room, None)
            answers.append(answer)
        out["open"].append("".join(str(int(g.open)) for g in gates if g))
        out["sets"].append([list(Sure.set(answers[i], s.bounds()[0])) if s.classes else [int(b is None) for b in s.bounds()]
                            for i, s in enumerate(sure) if s])
        out["y"].append(np.average(answers, 1, np.arange(1, w.outputs + 1)))
        if t % EVERY == EVERY - 1:
            out["intervals"].append([s.intervals(answers[i], s.bounds()) for i, s in enumerate(sure) if s and not s.classes])
        told, counts = [[] for _ in range(world["learners"])], ""
        for i, s, *truth in c["told"][t]:
            if s not in given[i]:
                counts += "0"
                continue
            counts += "1"
            truth = truth[0] if cost.classes else [None if v is None else v / 16 for v in truth]
            zs, bases, answer, learned, bounds = given[i].pop(s)
            told[0 if c["together"] else i].append((zs, bases, truth))
            if sure[i]:
                sure[i].judge(answer, bounds, truth)
            if gates[i]:
                gates[i].judge(t, s, answer, learned, bases, truth)
        weights = np.where(links - np.diag(np.diag(links)) > 0, 1 / 8, 0)
        weights = np.eye(1) if c["together"] else weights + np.diag(1 - weights.sum(1))
        refused = learner.step(told, weights, [j for j in range(n) if links[j, j]] if not c["together"] else [])
        for i in refused:
            gates[i].refuse()
        for i, g in enumerate(gates):
            if g and g.anew():
                learner.anew(i)
        out["counts"].append(counts)
    out["taps"] = list(learner.taps)
    out["gates"], out["meters"] = [g.state() for g in gates if g], [s.meter() for s in sure if s]
    notes = {k: world.get(k, 0) for k in ("changes", "restarts")}
    return {**c, **{k: v for k, v in out.items() if any(len(x) for x in v)}}, notes


def newton(**set):
    return {"newton": {"doubt": 0, **set}}


LATE = (0, 0, 0, 1, 2, 3, 4)  # one more than the delay below, which is too late
HEARING = {"inputs": 3, "features": 1, "hops": 2}
HEARS = {"inputs": 3, "features": 4, "bias": True, "moment": True}

CASES = {
    "paper, squares, decaying": dict(
        seed=11, learn={"step_size": {"schedule": "decaying", "value": 0.1, "steps": 20}, "ridge": 0.125}, bias=True, partly=True),
    "paper, labels, clipped, late, with liars": dict(
        seed=12, learn={"step_size": {"value": 0.5}, "clip_norm": 0.75, "delay": 3}, cost="labels", nodes=4, features=5, late=LATE,
        lies=True),
    "paper, centralized, squares": dict(
        seed=13, learn={"step_size": {"value": 0.1}, "ridge": 0.125, "clip_norm": 2}, together=True, bias=True, outputs=2, nodes=4),
    "paper, centralized, labels": dict(
        seed=14, learn={"step_size": {"schedule": "decaying", "value": 0.4}}, cost="labels", together=True, nodes=4),
    "own, labels, begins again with other links": dict(
        seed=21, learn=newton(doubt=0.2, fresh=25, restart=True), cost="labels", nodes=2, steps=108, bias=True, moment=True, features=5,
        links=40, turn=1),
    "own, labels, no moment, two features": dict(
        seed=31, learn=newton(prior=2.5, doubt=0.05, forget=0.97, fresh=20), cost="labels", nodes=2, steps=72, inputs=3, features=2,
        outputs=4),
    "own, labels, many features": dict(
        seed=25, learn=newton(doubt=0.1, forget=0.98), cost="labels", nodes=2, steps=30, inputs=33, features=4, outputs=4),
    "own, squares": dict(
        seed=23, learn={**newton(prior=1, fresh=15), "delay": 3}, nodes=2, steps=72, bias=True, moment=True, late=LATE, features=2),
    "own, smooth-l1": dict(
        seed=24, learn={**newton(), "delay": 3}, cost="smooth-l1", nodes=2, bias=True, moment=True, late=LATE, features=4, outputs=2),
    "gate and sets, labels, late": dict(
        seed=41, cost="labels", steps=90, late=LATE, learn={
            "step_size": {"value": 0.5}, "delay": 3, "gate": {"window": 10, "slack": 0.2, "margin": 0.001},
            "conformal": {"coverage": 0.6, "window": 15, "classes": True}}),
    "gate and intervals, squares, late": dict(
        seed=42, nodes=2, steps=90, bias=True, moment=True, late=LATE, partly=True, outputs=2, scores=22, learn={
            **newton(prior=1, fresh=15), "delay": 3, "gate": {"window": 8, "patience": 10, "slack": 1}, "conformal": {}}),
    "gate, smooth-l1, beyond the limit": dict(
        seed=43, cost="smooth-l1", nodes=2, steps=72, outputs=2, learn={
            "step_size": {"schedule": "decaying", "value": 2.5, "steps": 30}, "limit": 2.5,
            "gate": {"margin": 0.1, "slack": 0.1, "window": 6, "patience": 12}}),
    "gate, cost without a bound": dict(
        seed=44, learn={"step_size": {"value": 0.3}, "gate": {"window": 5}}, cost="unbounded", nodes=2, outputs=2),
    "neighbours, labels": dict(
        seed=51, learn=newton(doubt=0.1, fresh=25, restart=True), cost="labels", steps=60, hearing=HEARING, heard=(0, 1, 2), links=12,
        turn=1, **HEARS),
    "neighbours, squares, one that training did not know, late": dict(
        seed=52, learn={**newton(prior=1, fresh=15), "delay": 3}, hearing={"inputs": 6, "features": 2, "hops": 2}, heard=(0, 1), late=LATE,
        **{**HEARS, "inputs": 6, "features": 2, "outputs": 1}),
    "neighbours, no moment": dict(
        seed=53, learn=newton(doubt=0.1), cost="labels", hearing={"inputs": 4, "features": 2, "hops": 1, "scale": 0.5}, nodes=2,
        **{**HEARS, "inputs": 4, "moment": False}),
}


def cases():
    made = {}
    for name, case in CASES.items():
        made[name], notes = run(World(**case))
        assert "fresh" not in case["learn"].get("newton", {}) or notes["changes"], f"{name}: no second belief takes over"
    return made
