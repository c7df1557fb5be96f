"""What nodes learn: gradient steps of the paper, and beliefs with second derivatives.

Both work on whole taps 𝒜, in float64. Behind the taps stands Ω = α_W times the readout:

    y = y† + z (𝒜 - 𝒜†) Ω        z: shifted inputs, with a 1 behind them where the bias learns

Rounding a learner's output to float32 is left to whoever answers with it.
"""

import numpy as np


class Paper:
    """Eq. (9), all nodes at once, or eq. (7) with one set of taps for all rows.

        𝒜_{i,t+1} = Σ_j W_ij 𝒜_j - γ_t (∇J_i(𝒜_i) + λ (𝒜_i - 𝒜†))      γ_t = γ/√(1 + t/τ), if it decays

    J_i is the mean over what the node was told in this step. Gradients of J_i that are
    longer than the clip norm are shortened to it. A node whose taps are farther from 𝒜†
    than 10 max(‖𝒜†‖, 1) counts as silent: its weight stays at home.
    """

    def __init__(self, world, cost):
        self.world, self.cost, self.learn = world, cost, world["learn"]
        self.taps = np.array([world["start"]] * world["learners"])
        self.steps = np.zeros(world["learners"], int)

    def row(self, z):
        return np.append(z, 1.0) if self.world["bias"] else np.asarray(z)

    def predict(self, i, base, z):
        return base + self.row(z) @ (self.taps[i] - self.world["start"]) @ self.world["omega"]

    def gradient(self, i, told):
        g = np.zeros_like(self.world["start"])
        for z, base, truth in told:
            slope = self.cost.slope(self.predict(i, base, z), truth)
            g += np.outer(self.row(z), self.world["omega"] @ slope) / len(told)
        clip = self.learn.get("clip_norm", 0)
        if clip and np.linalg.norm(g) > clip:
            g *= clip / np.linalg.norm(g)
        return g + self.learn.get("ridge", 0) * (self.taps[i] - self.world["start"])

    def step(self, told, w, liars):
        """One step of all; it returns who was refused."""
        start, size = self.world["start"], self.learn["step_size"]
        sent = self.taps.copy()
        w = w.copy()
        for j in liars:
            for i in set(range(len(w))) - {j}:
                w[i, i] += w[i, j]
                w[i, j] = 0
        next, refused = np.einsum("ij,jkg->ikg", w, sent), []
        for i in range(len(self.taps)):
            gamma = size["value"]
            if size.get("schedule") == "decaying":
                gamma /= np.sqrt(1 + self.steps[i] / size.get("steps", 100))
            next[i] -= gamma * self.gradient(i, told[i])
            if np.linalg.norm(next[i] - start) > self.learn.get("limit", 1e8):
                refused.append(i)
            else:
                self.taps[i], self.steps[i] = next[i], self.steps[i] + 1
        return refused

    def anew(self, i):
        self.taps[i], self.steps[i] = self.world["start"], 0


class Believed:
    """A mean Y, features by outputs that the taps can reach, and how sure it is of it, P⁻¹."""

    def __init__(self, features, reached, full, tau):
        self.mean, self.told = np.zeros((features, reached)), 0
        self.sure = np.eye(features * reached if full else features) / tau


class Own:
    """One node with second derivatives, in the form of information: P⁻¹ is what is kept.

        Y ← argmin ½|Y - Y_t|²_{P⁻¹} + w J(Y)        P⁻¹ ← P⁻¹ + w (information of the answer)

    The minimum is searched among all of Y, by damped Newton steps. Outputs are y† + Eᵀ Yᵀ z̃,
    E orthonormal rows that span those of Ω.
    """

    ridge = 1e-4

    def __init__(self, world, cost, i):
        self.world, self.cost, self.set = world, cost, world["learn"]["newton"]
        self.i, self.scale, self.links = i, None, None
        self.reached = np.linalg.svd(world["omega"])[2][: np.linalg.matrix_rank(world["omega"])]
        if self.hears():
            self.ridge = 1e-3
            self.hearing = self.known().get(str(i)) or {**world["hearing"], "neighbors": world["met"][i]}
        moment = self.moment()
        if moment is not None:
            self.sigma = moment + self.ridge * np.diag(np.diag(moment))
            self.white = np.linalg.inv(np.linalg.cholesky(self.sigma))
        self.anew()

    def hears(self):
        return self.world["hearing"] is not None

    def known(self):
        return (self.world["moment"] or {}).get("heard", {})

    def moment(self):
        if self.hears():
            m = self.hearing.get("moment")
            return None if m is None else np.reshape(m, [int(np.sqrt(len(m)))] * 2)
        if self.world["moment"] is None:
            return None
        n, p = self.world["inputs"] + 1, self.world["inputs"] + self.world["bias"]
        return np.reshape(self.world["moment"]["mean"], (n, n))[:p, :p]

    def anew(self):
        self.main, self.fresh, self.told, self.age, self.costs = None, None, 0, None, [0, 0]
        self.scale = None

    def row(self, z):
        bias = self.hears() or self.world["bias"]
        return np.append(z, 1.0) if bias else np.array(z)

    def features(self, z):
        v = self.row(z)
        lost = np.isnan(v)
        if self.moment() is not None:
            if lost.any():
                m, o = np.flatnonzero(lost), np.flatnonzero(~lost)
                v[m] = self.sigma[np.ix_(m, o)] @ np.linalg.solve(self.sigma[np.ix_(o, o)], v[o])
            return self.white @ v
        if not self.hears():
            return v / self.scale
        h = self.hearing
        for at in np.flatnonzero(lost):
            hop, feature = divmod((at - h["inputs"]) % (h["hops"] * h["features"]), h["features"])
            v[at] = v[(hop + 1) * h["features"] + feature]
        return np.append(v[:-1] / self.scale, 1.0)

    def predict(self, base, z):
        if self.main is None:
            return np.array(base)
        return base + self.reached.T @ (self.main.mean.T @ self.features(z))

    def begin(self):
        return Believed(self.p, len(self.reached), self.full, self.tau)

    def first(self, z):
        v = self.row(z)
        if self.hears():
            inputs = v[: self.hearing["inputs"]]
            self.scale = self.hearing.get("scale") or 0.1 * np.sqrt((inputs**2).mean())
        else:
            self.scale = np.sqrt((v**2).mean())
        self.p, r = len(v), len(self.reached)
        self.full = r > 1 and r * self.p <= 128 and self.world["cost"] != "squares" and not self.hears()
        self.tau = self.set.get("prior") or (0.01 / self.cost.curvature if not self.cost.classes else 3.0 if self.hears() else 30.0)
        self.main = self.begin()

    def learn(self, base, z, truth):
        if self.main is None:
            self.first(z)
        fresh, self.told = self.set.get("fresh", 0), self.told + 1
        if fresh and self.told > 1 and (self.told - 1) % fresh == 0:
            self.fresh, self.age, self.costs = self.begin(), 0, [0, 0]
        x = self.features(z)
        cost = self.absorb(self.main, base, x, truth)
        if self.age is None:
            return
        self.costs = [self.costs[0] + cost, self.costs[1] + self.absorb(self.fresh, base, x, truth)]
        self.age += 1
        if self.age >= 10 and self.ahead(*self.costs):
            self.main, self.fresh, self.age = self.fresh, self.main, None
            self.world["changes"] += 1

    def ahead(self, old, new):
        if self.cost.classes:
            return old - new >= 3
        return old > new and self.age / 2 * np.log(old / new) >= 3

    def absorb(self, b, base, x, truth):
        """Belief b follows the answer. It returns what that cost before, in nats for labels."""
        b.told += 1
        r, forget = len(self.reached), self.set.get("forget", 1)
        if forget != 1:
            b.sure = np.linalg.inv(forget**2 * np.linalg.inv(b.sure) + (1 - forget**2) * self.tau * np.eye(len(b.sure)))
        sure = b.sure if self.full else np.kron(b.sure, np.eye(r))
        phi = np.kron(x, self.reached.T)  # outputs by elements of Y, by rows

        def outputs(y):
            return base + phi @ y

        w, cost = self.trust(b, outputs(b.mean.ravel()), phi, sure, truth)
        y = self.minimum(b.mean.ravel(), sure, outputs, phi, w, truth)
        said = w * self.reached @ self.cost.information(outputs(y), truth) @ self.reached.T
        if self.full:
            b.sure = b.sure + np.kron(np.outer(x, x), said)
        else:
            b.sure = b.sure + np.outer(x, x) * (np.trace(said) if self.cost.classes else np.linalg.eigvalsh(said).max())
        b.mean = y.reshape(b.mean.shape)
        return cost

    def trust(self, b, y, phi, sure, truth):
        if not self.cost.classes:
            return 1.0, self.cost.value(y, truth)
        variance = np.diag(phi @ np.linalg.solve(sure, phi.T))
        p = y / np.sqrt(1 + np.pi / 8 * variance)
        p = np.exp(p - p.max()) / np.exp(p - p.max()).sum()
        doubt = self.set.get("doubt", 0)
        right, wrong = (1 - doubt) * p[truth], doubt / len(y)
        return right / (right + wrong), -np.log(right + wrong)

    def minimum(self, start, sure, outputs, phi, w, truth):
        def f(y):
            return (y - start) @ sure @ (y - start) / 2 + w * self.cost.value(outputs(y), truth)

        y = start
        for _ in range(100):
            g = sure @ (y - start) + w * phi.T @ self.cost.slope(outputs(y), truth)
            d = -np.linalg.solve(sure + w * phi.T @ self.cost.bend(outputs(y), truth) @ phi, g)
            length = 1.0
            while f(y + length * d) > f(y) + 1e-4 * length * (g @ d) + 1e-14 * (1 + abs(f(y))) and length > 1e-9:
                length /= 2
            y = y + length * d
            if abs(d).max() < 1e-13 * (1 + abs(y).max()):
                return y
        raise ArithmeticError("no minimum was found")

    def relink(self, links):
        """Begin again where links changed; what was learned longest waits to take over."""
        before, self.links = self.links, links
        if before is None or before == links or self.main is None or not self.set.get("restart"):
            return
        if self.age is None or self.fresh.told < self.main.told:
            self.fresh = self.main
        self.main, self.told, self.age, self.costs = self.begin(), 0, 0, [0, 0]
        self.world["restarts"] += 1

    def taps(self):
        """𝒜, of a node that hears the part of its own inputs and, where the bias learns, of the 1."""
        start, rows = self.world["start"], len(self.world["start"])
        if self.main is None:
            return start
        if self.moment() is not None:
            y = self.white.T @ self.main.mean
        else:
            y = self.main.mean / self.scale
            if self.hears():
                y[-1] = self.main.mean[-1]
        at = [k if k < self.world["inputs"] else -1 for k in range(rows)]
        return start + y[at] @ self.reached @ np.linalg.pinv(self.world["omega"])


class Owns:
    """All nodes that learn by themselves."""

    def __init__(self, world, cost):
        world["changes"] = world["restarts"] = 0
        self.nodes = [Own(world, cost, i) for i in range(world["learners"])]

    def predict(self, i, base, z):
        return self.nodes[i].predict(base, z)

    def step(self, told, w, liars):
        for node, all in zip(self.nodes, told):
            for z, base, truth in all:
                node.learn(base, z, truth)
        return []

    def anew(self, i):
        self.nodes[i].anew()

    def relink(self, i, links):
        self.nodes[i].relink(links)

    @property
    def taps(self):
        return [n.taps() for n in self.nodes]
