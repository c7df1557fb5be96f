"""What nodes answer: the gate that bounds harm, and sets or intervals, which go by ranks of exact fractions."""

from fractions import Fraction
from math import ceil

import numpy as np
from stream import rounded


class Gate:
    """A ≤ (1+δ) F + Slack u for one node, whatever it learned."""

    def __init__(self, set, cost, delay):
        g = {"margin": 0.05, "slack": 15, "window": 30, "patience": 100, **set}
        self.delta, self.slack, self.window, self.patience = g["margin"], g["slack"], g["window"], g["patience"]
        self.cost, self.room, self.bounded = cost, delay + 1, False
        self.open, self.since, self.judged, self.refused, self.began = False, 0, 0, 0, 0
        self.answered = self.frozen = self.usual = self.most = self.ahead = 0.0
        self.behind, self.risks = 0, {}  # of answers that are open and not judged

    def excess(self, r):
        """e(r) of (h), 0 before anything is known of the cost."""
        bent = self.cost.curvature / 2 * (1 + 1 / self.delta) * self.cost.outputs * r**2
        return min(self.cost.steepness * r, bent) if self.bounded else 0.0

    def reach(self, risk):
        """The r whose excess is the risk."""
        if not self.bounded:
            return np.inf
        return max(risk / self.cost.steepness, np.sqrt(risk / (self.cost.curvature / 2 * (1 + 1 / self.delta) * self.cost.outputs)))

    def give(self, t, adapted, base):
        """Returns what is answered and what the learner would, within its reach."""
        self.risks.pop(t - self.room, None)
        b = max((1 + self.delta) * self.frozen + self.slack * self.most - self.answered, 0)
        most = max(min(b / self.room, b - sum(self.risks.values()), 10 * self.slack * self.usual), 0)
        far = abs(adapted - base).max()
        y = base
        if far > 0:
            step = min(self.reach(most) / far, 1) * (adapted - base)
            y = rounded(base + step)
            out = abs(y - base) > abs(step)
            y = np.where(out, np.nextafter(y.astype(np.float32), base.astype(np.float32)).astype(float), y)
            if self.bounded and self.excess(abs(y - base).max()) > most:
                y = base
        if self.open:
            self.risks[t] = self.excess(abs(y - base).max())
        return (y if self.open else base), y

    def judge(self, now, t, answer, learned, base, truth):
        self.bounded = min(self.cost.steepness, self.cost.curvature) < np.inf
        self.risks.pop(t, None)
        frozen, could = self.cost.value(base, truth), self.cost.value(learned, truth)
        self.judged += 1
        self.answered += self.cost.value(answer, truth)
        self.frozen += frozen
        usual = frozen if self.judged <= self.window else min(frozen, 10 * self.usual)
        self.usual += (usual - self.usual) / self.window
        self.most = max(self.most, self.usual)
        ahead = np.clip(frozen - could, -10 * self.usual, 10 * self.usual)
        self.ahead += (ahead - self.ahead) / self.window
        self.behind = max(self.behind + (self.ahead < 0) - (self.ahead > 0), 0)
        if self.open != (self.ahead > 0):
            self.open, self.since = not self.open, now + 1

    def refuse(self):
        self.refused += 1
        self.behind += ceil(self.patience / 10)

    def anew(self):
        """Says whether the node begins again."""
        if self.behind < self.patience:
            return False
        self.began, self.behind, self.ahead = self.began + 1, 0, 0.0
        return True

    def state(self):
        known = {k: v for k in ("steepness", "curvature") if (v := getattr(self.cost, k)) < np.inf}
        return {"open": bool(self.open), "since": self.since, "judged": self.judged, "answered": self.answered, "frozen": self.frozen,
                "usual": self.usual, "most": self.most, "ahead": self.ahead, "behind": int(self.behind), **(known if self.judged else {}),
                "refused": self.refused, "anew": self.began}


class Window:
    """Scores of one output, or of all classes together."""

    def __init__(self, set, classes, scores):
        self.classes, self.miss = classes, 1 - Fraction(str(set.get("coverage", 0.9)))
        self.room = set.get("window") or max(100, round(10 / self.miss))
        self.rate = Fraction(str(set["rate"])) if "rate" in set else self.miss / 5
        self.level, self.scores = self.miss, scores
        self.judged = self.held = self.sized = 0
        self.size = 0.0

    def rank(self, level):
        return max(ceil((len(self.scores) + 1) * (1 - level / (1 if self.classes else 2))), 1)

    def bound(self):
        """q, or both, None where nothing is known."""
        n, k, s = len(self.scores), self.rank(self.level), sorted(self.scores)
        if self.level <= 0 or k > n:
            return None
        return (-np.inf if self.classes else s[n - k], s[k - 1])

    def judge(self, score, held, size):
        self.judged, self.held = self.judged + 1, self.held + held
        if size is not None:
            self.sized, self.size = self.sized + 1, self.size + size
        if self.rank(self.miss) <= len(self.scores):
            self.level = min(self.level + self.rate * (self.miss - (not held)), 3 * self.miss / 2)
        self.scores = (self.scores + [score])[-self.room:]


def margins(y):
    return np.array([max([v for k, v in enumerate(y) if k != c], default=y[c]) - y[c] for c in range(len(y))])


class Sure:
    """Sets or intervals of a node."""

    def __init__(self, set, scores):
        self.classes = set.get("classes", False)
        self.windows = [Window(set, self.classes, list(s)) for s in scores[: 1 if self.classes else None]]

    def bounds(self):
        return [w.bound() for w in self.windows]

    @staticmethod
    def set(y, bound):
        return [c for c, s in enumerate(margins(y)) if bound is None or s <= bound[1] or c == int(np.argmax(y))]

    def intervals(self, y, bounds):
        return [None if b is None else [v + b[0], v + b[1]] for v, b in zip(y, bounds)]

    def judge(self, y, bounds, truth):
        if self.classes:
            possible = self.set(y, bounds[0])
            self.windows[0].judge(margins(y)[truth], truth in possible, len(possible))
            return
        for v, t, b, w in zip(y, truth, bounds, self.windows):
            if t is not None:
                held = b is None or b[0] <= t - v <= b[1]
                w.judge(t - v, held, None if b is None else b[1] - b[0])

    def meter(self):
        return {k: sum(getattr(w, k) for w in self.windows) for k in ("judged", "held", "sized", "size")}
