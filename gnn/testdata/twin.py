#!/usr/bin/python3
"""A float64 twin of the models of package gnn, in plain NumPy.

    twin.py [OUT]       writes its numbers as JSON to OUT, or to standard output

The twin follows the equations of the paper, not the Go code: powers of S are
dense matrices, a whole filter is one sum over all its indices, a derivative is
that sum with another factor left out, and a nonlinearity is differentiated at
its argument. Before anything is written, every derivative is compared with
central differences.

Inputs and parameters are multiples of 1/2048 from a generator of one line: they
are exact in float32 and the same under every version of NumPy.

Signals are (B, N, F), sample by sample. A trajectory of T steps counts as T*N
nodes, step by step.
"""

import json
import sys

import numpy as np

ORDER = 3        # the highest of any filter below
STEPS = 10       # training steps per case
KINK = 5e-5      # no argument of a ReLU comes closer to 0, so that float32 is on the same side
SLOPE = 0.01     # of the leaky ReLU left of 0

# Each nonlinearity with its derivative, both as functions of the argument.
SIGMA = {
    "relu": (lambda v: np.where(v > 0, v, 0.0), lambda v: np.where(v > 0, 1.0, 0.0)),
    "leaky-relu": (lambda v: np.where(v > 0, v, SLOPE * v), lambda v: np.where(v > 0, 1.0, SLOPE)),
    "tanh": (np.tanh, lambda v: 1 / np.cosh(v) ** 2),
    "identity": (lambda v: v, np.ones_like),
}


class Stream:
    """Numbers of a linear congruential generator."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (1664525 * self.state + 1013904223) % 2**32
        return (self.state >> 8) * n >> 24

    def tensor(self, *shape, bound=0.5):
        """Odd multiples of bound/1024 between -bound and bound, a power of two."""
        return np.array([(2 * self.below(1024) - 1023) * bound / 1024 for _ in range(np.prod(shape))]).reshape(shape)

    def shift(self, n, directed):
        """A random graph shift; a directed one has signs and a diagonal too."""
        s = np.zeros((n, n))
        for i in range(n):
            for j in range(n if directed else i):
                if self.below(100) < 40:
                    s[i, j] = (1 + self.below(32)) / 64
                    if directed:
                        s[i, j] *= 1 - 2 * self.below(2)
        return s if directed else s + s.T

    def subgraph(self, s):
        """S without each edge with probability 0.3."""
        keep = np.array([[i > j and self.below(100) >= 30 for j in range(len(s))] for i in range(len(s))])
        return s * (keep | keep.T)


def powers(case, step):
    """P such that P[k] X is the k times shifted signal: S^k, or the products of eq. (24)."""
    shifts = case["shifts"]
    if not case["delayed"]:
        return np.stack([np.linalg.matrix_power(shifts[step % len(shifts)], k) for k in range(ORDER + 1)])
    steps, n = shifts.shape[:2]
    p = np.zeros((ORDER + 1, steps, n, steps, n))
    for k in range(ORDER + 1):
        for t in range(k, steps):            # signals before time 0 are 0
            product = np.eye(n)
            for back in range(k):            # S_t S_{t-1} ... S_{t-(k-1)}
                product = product @ shifts[t - back]
            p[k, t, :, t - k, :] = product   # times X_{t-k}
    return p.reshape(ORDER + 1, steps * n, steps * n)


def graph_filter(name, p, par, x):
    """Eq. (3) with a bias: the output, and a function from its gradient to that of X."""
    taps, bias = par[name + ".tap"], name + ".bias"
    p = p[:len(taps)]
    y = np.einsum("kij,bjf,kfg->big", p, x, taps) + par.get(bias, 0.0)

    def back(dy, grad):
        grad[name + ".tap"] = np.einsum("kij,bjf,big->kfg", p, x, dy)
        if bias in par:
            grad[bias] = np.einsum("big->g", dy)
        return np.einsum("kij,big,kfg->bjf", p, dy, taps)

    return y, back


def model(case, p, par, x):
    """Eq. (2) and a readout: the output, and a function from its gradient to all others."""
    config, deep, layers = case["config"], x, []
    wide, back_wide = graph_filter("wide", p, par, x) if "wide" in config else (0.0, lambda du, grad: 0.0)
    for l, layer in enumerate(config["deep"], 1):            # eq. (4)
        sigma, slope = SIGMA[layer["activation"]]
        v, back_layer = graph_filter("deep.%d" % l, p, par, deep)
        assert "relu" not in layer["activation"] or abs(v).min() > KINK, (l, "kink", abs(v).min())
        layers.append((back_layer, slope(v)))
        deep = sigma(v)
    a_wide, a_deep, beta = par.get("gain", (1.0, 1.0, 0.0))
    u = a_wide * wide + (a_deep * deep if layers else 0.0) + beta
    read_out = config["outputs"] > 0
    y = np.einsum("big,gc->bic", u, par["readout.weight"]) + par.get("readout.bias", 0.0) if read_out else u

    def back(dy):
        grad, du = {}, dy
        if read_out:
            grad["readout.weight"] = np.einsum("big,bic->gc", u, dy)
            grad["readout.bias"] = np.einsum("bic->c", dy)
            du = np.einsum("bic,gc->big", dy, par["readout.weight"])
        if "gain" in par:
            learned = not config.get("fixed_gains")
            grad["gain"] = learned * np.array([(du * wide).sum(), (du * deep).sum(), du.sum()])
        dx, dv = back_wide(a_wide * du, grad), a_deep * du
        for back_layer, slope in reversed(layers):
            dv = back_layer(dv * slope, grad)
        return grad, dx + dv if layers else dx

    return y, back


def cost(case, y):
    """J, a mean over samples and the nodes that are read, and its gradient."""
    read, dy = case["read"], np.zeros_like(y)
    z = y[:, read]
    if case["loss"] == "cross-entropy":
        right = np.eye(y.shape[2])[case["labels"][:, read]]
        log_p = z - np.log(np.exp(z).sum(axis=2, keepdims=True))
        count = len(y) * len(read)
        dy[:, read] = (np.exp(log_p) - right) / count
        return -(right * log_p).sum() / count, dy
    d = z - case["targets"][:, read]
    if case["loss"] == "mse":
        dy[:, read] = 2 * d / d.size
        return (d * d).mean(), dy
    delta = case["threshold"]                                # smooth-l1
    near = abs(d) < delta
    assert near.any() and not near.all(), "one branch only"
    dy[:, read] = np.where(near, d / delta, np.sign(d)) / d.size
    return np.where(near, d * d / (2 * delta), abs(d) - delta / 2).mean(), dy


def evaluate(case, par, step=0):
    """J, Y, and a function that gives the gradients of parameters and signal."""
    y, back = model(case, powers(case, step), par, case["signal"])
    j, dy = cost(case, y)
    return j, y, lambda: back(dy)


def train(case):
    """J before each step and after the last; each step has its own shift if there are several."""
    par, m, v, losses = dict(case["params"]), {}, {}, []
    for t in range(1, STEPS + 2):
        j, _, back = evaluate(case, par, t - 1)
        losses.append(j)
        for name, g in back()[0].items():
            step = g
            if case["optimizer"] == "adam":
                m[name] = 0.9 * m.get(name, 0.0) + 0.1 * g
                v[name] = 0.999 * v.get(name, 0.0) + 0.001 * g * g
                step = m[name] / (1 - 0.9**t) / (np.sqrt(v[name] / (1 - 0.999**t)) + 1e-8)
            par[name] = par[name] - case["step_size"] * step
    return losses


def check_gradient(case, what, value, grad, h=1e-6):
    """Central differences in every number of value, which is part of case."""
    largest = abs(grad).max()
    assert largest > 1e-3, (what, "gradient too small to test anything", largest)
    for i in np.ndindex(value.shape):
        old, sides = value[i], []
        for value[i] in (old + h, old - h):
            sides.append(evaluate(case, case["params"])[0])
        value[i] = old
        slope = (sides[0] - sides[1]) / (2 * h)
        assert abs(slope - grad[i]) < 1e-7 * max(largest, 0.01), (what, i, slope, grad[i])


def parameters(config, draw):
    """Named as in Params.Windows, but with the taps of a filter in one array."""
    filters, inputs, par = [], config["in"], {}
    if "wide" in config:
        filters.append(("wide", config["wide"]["order"], inputs, config["features"]))
    for l, layer in enumerate(config["deep"], 1):
        filters.append(("deep.%d" % l, layer["order"], inputs, layer["features"]))
        inputs = layer["features"]
    for name, order, inputs, outputs in filters:
        par[name + ".tap"] = draw.tensor(order + 1, inputs, outputs)
        if not config.get("no_bias"):
            par[name + ".bias"] = draw.tensor(outputs)
    if config["outputs"]:
        par["readout.weight"] = draw.tensor(config["features"], config["outputs"], bound=1)
        par["readout.bias"] = draw.tensor(config["outputs"])
    if "wide" in config and config["deep"]:
        par["gain"] = np.array([config["gains"][part] for part in ("wide", "deep", "bias")])
    return par


def windows(par):
    """Taps one by one: wide.tap.0, wide.tap.1 and so on."""
    out = {name: v for name, v in par.items() if not name.endswith(".tap")}
    for name in par.keys() - out.keys():
        out.update(("%s.%d" % (name, k), tap) for k, tap in enumerate(par[name]))
    return out


def make(seed, nodes, samples, features, width, wide=None, deep=(), outputs=0, gains=(1.125, 0.875, -0.25), loss="mse",
         read=None, steps=1, directed=False, subgraphs=0, optimizer="adam", step_size=5e-3, **more):
    """One case: architecture, data, and what the twin makes of them."""
    draw = Stream(seed)
    config = {"in": features, "features": width, "outputs": outputs, **more}
    config["deep"] = [dict(zip(("order", "features", "activation"), layer)) for layer in deep]
    if wide is not None:
        config["wide"] = {"order": wide}
        if deep:
            config["gains"] = dict(zip(("wide", "deep", "bias"), gains))
    shifts = [draw.shift(nodes, directed) for _ in range(steps)]
    if subgraphs:
        shifts = [draw.subgraph(shifts[0]) for _ in range(subgraphs)]
    rows, columns = nodes * steps, outputs or width
    case = {
        "config": config, "shifts": np.stack(shifts), "delayed": steps > 1, "loss": loss, "threshold": 0.5,
        "optimizer": optimizer, "step_size": step_size, "read": read or list(range(rows)),
        "signal": draw.tensor(samples, rows, features, bound=1), "params": parameters(config, draw),
    }
    if loss == "cross-entropy":
        case["labels"] = np.array([[draw.below(columns) for _ in range(rows)] for _ in range(samples)])
    else:
        case["targets"] = draw.tensor(samples, rows, columns, bound=1)
    j, y, back = evaluate(case, case["params"])
    grads, dx = back()
    for name, g in grads.items():
        if name != "gain" or not config.get("fixed_gains"):
            assert g.all(), (name, "dead features")
            check_gradient(case, name, case["params"][name], g)
    check_gradient(case, "signal", case["signal"], dx)
    results = {"output": y, "cost": j, "grads": windows(grads), "input_grad": dx, "losses": train(case)}
    return {**case, **results, "params": windows(case["params"])}


def text(v, indent="\n"):
    """JSON, a line per tensor, keys sorted, with the up to 17 digits that give a float64 back."""
    if isinstance(v, dict):
        entries = (indent + ' "' + k + '": ' + text(v[k], indent + " ") for k in sorted(v))
        return "{" + ",".join(entries) + indent + "}"
    return json.dumps(v.tolist() if isinstance(v, np.ndarray) else v, sort_keys=True, separators=(",", ":"))


# name: seed, N, B, F, G and the rest. Seeds are such that the assertions above hold.
CASES = {
    "filter": (1, 8, 4, 1, 5, dict(wide=3, outputs=3, loss="cross-entropy")),
    "gnn": (59, 10, 4, 1, 5, dict(deep=[(3, 4, "relu"), (1, 5, "relu")], outputs=3, loss="cross-entropy",
                                  read=[7, 2, 4])),
    "wide-deep": (9, 12, 3, 2, 5, dict(wide=3, deep=[(2, 4, "relu"), (3, 5, "leaky-relu")], outputs=3,
                                       loss="cross-entropy", read=[9, 0, 5, 6])),
    "wide-deep-plain": (4, 7, 3, 3, 4, dict(wide=2, deep=[(2, 4, "tanh")], no_bias=True, fixed_gains=True,
                                            gains=(0.75, 1.25, 0.125), optimizer="sgd", step_size=0.05)),
    "wide-deep-directed": (5, 9, 3, 2, 6, dict(wide=1, deep=[(2, 4, "relu"), (0, 3, "tanh"), (3, 6, "identity")],
                                               outputs=2, loss="smooth-l1", directed=True)),
    "delayed-filter": (6, 7, 2, 2, 4, dict(wide=3, steps=6, directed=True)),
    "delayed-1": (7, 7, 2, 2, 4, dict(wide=3, deep=[(2, 4, "tanh")], outputs=2, steps=6, directed=True)),
    "delayed-2": (8, 7, 2, 2, 4, dict(wide=1, deep=[(2, 5, "tanh"), (3, 4, "tanh")], outputs=2, steps=6,
                                      directed=True)),
    "subgraphs": (199, 10, 3, 1, 4, dict(deep=[(2, 5, "relu"), (2, 4, "relu")], outputs=2, loss="cross-entropy",
                                       read=[3, 6], subgraphs=STEPS)),
}

if __name__ == "__main__":
    numbers = text({name: make(*sizes, **rest) for name, (*sizes, rest) in CASES.items()}) + "\n"
    with open(sys.argv[1], "w") if len(sys.argv) > 1 else sys.stdout as f:
        f.write(numbers)
