#!/usr/bin/python3
"""A float64 twin of the models of package gnn, in plain NumPy.

    twin.py [OUT]       writes its numbers as JSON to OUT, or to standard output

The twin follows the equations of the paper, not the Go code: powers of S are
dense matrices, a whole filter is one sum over all its indices, derivatives are
that sum with another factor left out, and a nonlinearity is differentiated at
its argument. Before anything is written, every derivative is compared with
central differences.

Inputs and parameters are multiples of 2^-12 from a generator of one line: they
are exact in float32 and the same under every version of NumPy.

Shapes: X is (B, N, F), sample by sample. A trajectory of T steps counts as
T*N nodes, step by step.
"""

import json
import sys

import numpy as np

STEPS = 10       # training steps per case
KINK = 5e-5      # no argument of a ReLU comes closer to 0, so that float32 takes the same side
SLOPE = 0.01     # of the leaky ReLU where its argument is negative

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

    def tensor(self, *shape, bound):
        """Odd multiples of bound/1024 within +-bound, which is a power of two."""
        count = int(np.prod(shape))
        return bound * np.array([(2 * self.below(1024) - 1023) / 1024 for _ in range(count)]).reshape(shape)

    def shift(self, n, directed):
        """A random graph shift. Directed ones have signs and a diagonal."""
        s = np.zeros((n, n))
        for i in range(n):
            for j in range(n) if directed else range(i):
                if self.below(100) < 40:
                    s[i, j] = (1 + self.below(32)) / 64
                    if directed:
                        s[i, j] *= 1 - 2 * self.below(2)
                    else:
                        s[j, i] = s[i, j]
        return s

    def subgraph(self, s):
        """S with each edge left out with probability 0.3."""
        keep = np.zeros_like(s)
        for i in range(len(s)):
            for j in range(i):
                keep[i, j] = keep[j, i] = self.below(100) >= 30
        return s * keep


def powers(case, step):
    """P with P[k] X the k times shifted signal: S^k, or the products of eq. (24)."""
    shifts, order = case["shifts"], 3
    if not case["delayed"]:
        s = shifts[step % len(shifts)]
        return np.stack([np.linalg.matrix_power(s, k) for k in range(order + 1)])
    steps, n = len(shifts), len(shifts[0])
    p = np.zeros((order + 1, steps, n, steps, n))
    for k in range(order + 1):
        for t in range(k, steps):           # nothing is known of times before 0
            product = np.eye(n)
            for back in range(k):           # S_t S_{t-1} ... S_{t-(k-1)}
                product = product @ shifts[t - back]
            p[k, t, :, t - k, :] = product  # meets X_{t-k}
    return p.reshape(order + 1, steps * n, steps * n)


def graph_filter(name, p, par, x):
    """Eq. (3) with a bias: the output, and a function from its gradient to that of X."""
    taps, bias = par[name + ".tap"], par.get(name + ".bias")
    p = p[:len(taps)]
    y = np.einsum("kij,bjf,kfg->big", p, x, taps)
    if bias is not None:
        y = y + bias

    def back(dy, grad):
        grad[name + ".tap"] = np.einsum("kij,bjf,big->kfg", p, x, dy)
        if bias is not None:
            grad[name + ".bias"] = np.einsum("big->g", dy)
        return np.einsum("kij,big,kfg->bjf", p, dy, taps)

    return y, back


def model(case, p, par, x):
    """Eq. (2) and a readout: the output, and a function from its gradient to all others."""
    config = case["config"]
    wide = deep = 0.0
    layers = []
    if "wide" in config:
        wide, back_wide = graph_filter("wide", p, par, x)
    if "deep" in config:
        deep = x
        for l, layer in enumerate(config["deep"], 1):       # eq. (4)
            sigma, slope = SIGMA[layer["activation"]]
            v, back_layer = graph_filter("deep.%d" % l, p, par, deep)
            assert "relu" not in layer["activation"] or abs(v).min() > KINK, (case["name"], l, abs(v).min())
            layers.append((back_layer, slope(v)))
            deep = sigma(v)
    a_wide, a_deep, beta = par.get("gain", (1.0, 1.0, 0.0))
    u = a_wide * wide + a_deep * deep + beta
    y = u
    if config["outputs"]:
        y = np.einsum("big,gc->bic", u, par["readout.weight"]) + par.get("readout.bias", 0.0)

    def back(dy):
        grad, dx, du = {}, 0.0, dy
        if config["outputs"]:
            grad["readout.weight"] = np.einsum("big,bic->gc", u, dy)
            if "readout.bias" in par:
                grad["readout.bias"] = np.einsum("bic->c", dy)
            du = np.einsum("bic,gc->big", dy, par["readout.weight"])
        if "gain" in par:
            grad["gain"] = np.array([(du * wide).sum(), (du * deep).sum(), du.sum()])
            if config.get("fixed_gains"):
                grad["gain"] = np.zeros(3)                  # by decree
        if "wide" in config:
            dx = dx + back_wide(a_wide * du, grad)
        dv = a_deep * du
        for back_layer, slope in reversed(layers):
            dv = back_layer(dv * slope, grad)
        return grad, dx + dv if layers else dx

    return y, back


def cost(case, y):
    """J, a mean over samples and nodes that are read, and its gradient."""
    read, dy = case["read"], np.zeros_like(y)
    z, count = y[:, read], y[:, read, 0].size
    if case["loss"] == "cross-entropy":
        right = np.eye(y.shape[2])[case["labels"][:, read]]
        log_p = z - np.log(np.exp(z).sum(axis=2, keepdims=True))
        dy[:, read] = (np.exp(log_p) - right) / count
        return -(right * log_p).sum() / count, dy
    d = z - case["targets"][:, read]
    if case["loss"] == "mse":
        dy[:, read] = 2 * d / d.size
        return (d * d).mean(), dy
    delta = case["threshold"]                               # smooth-l1
    near = abs(d) < delta
    assert near.any() and not near.all(), case["name"]
    dy[:, read] = np.where(near, d / delta, np.sign(d)) / d.size
    return np.where(near, d * d / (2 * delta), abs(d) - delta / 2).mean(), dy


def evaluate(case, par, x, step=0):
    y, back = model(case, powers(case, step), par, x)
    j, dy = cost(case, y)
    return j, y, *back(dy)


def train(case):
    """J before each of ten steps and after the last one."""
    par = {name: v.copy() for name, v in case["params"].items()}
    m = {name: 0.0 for name in par}
    v = {name: 0.0 for name in par}
    losses = []
    for t in range(1, STEPS + 2):
        j, _, grad, _ = evaluate(case, par, case["signal"], t - 1)
        losses.append(j)
        for name, g in grad.items():
            step = case["step_size"] * g
            if case["optimizer"] == "adam":
                m[name] = 0.9 * m[name] + 0.1 * g
                v[name] = 0.999 * v[name] + 0.001 * g * g
                step = case["step_size"] * (m[name] / (1 - 0.9**t)) / (np.sqrt(v[name] / (1 - 0.999**t)) + 1e-8)
            par[name] = par[name] - step
    return losses


def check_gradient(case, what, value, grad, h=1e-6):
    """Central differences, one number of value at a time. J is evaluated where value lives."""
    largest = abs(grad).max()
    assert largest > 1e-3, (case["name"], what, "has no gradient to speak of", largest)
    for i in np.ndindex(value.shape):
        old, sides = value[i], []
        for value[i] in (old + h, old - h):
            sides.append(cost(case, model(case, case["powers"], case["params"], case["signal"])[0])[0])
        value[i] = old
        slope = (sides[0] - sides[1]) / (2 * h)
        assert abs(slope - grad[i]) < 1e-7 * max(largest, 0.01), (case["name"], what, i, slope, grad[i])


def parameters(config, draw):
    """Starting values, named as in Params.Windows but with all taps of a filter in one array."""
    par, bias = {}, not config.get("no_bias")

    def filter_of(name, order, inputs, outputs):
        par[name + ".tap"] = draw.tensor(order + 1, inputs, outputs, bound=0.5)
        if bias:
            par[name + ".bias"] = draw.tensor(outputs, bound=0.5)

    if "wide" in config:
        filter_of("wide", config["wide"]["order"], config["in"], config["features"])
    inputs = config["in"]
    for l, layer in enumerate(config.get("deep", []), 1):
        filter_of("deep.%d" % l, layer["order"], inputs, layer["features"])
        inputs = layer["features"]
    if config["outputs"]:
        par["readout.weight"] = draw.tensor(config["features"], config["outputs"], bound=1)
        if bias:
            par["readout.bias"] = draw.tensor(config["outputs"], bound=0.5)
    if "wide" in config and "deep" in config:
        g = config.get("gains", {"wide": 1.125, "deep": 0.875, "bias": -0.25})
        par["gain"] = np.array([g["wide"], g["deep"], g["bias"]])
    return par


def make(name, seed, nodes, samples, features, wide=None, deep=(), outputs=0, loss="mse", read=None, steps=1,
         delayed=False, directed=False, subgraphs=0, optimizer="adam", step_size=5e-3, **more):
    """One case: architecture, data, and what the twin says about them."""
    draw = Stream(seed)
    config = {"in": features, "features": deep[-1][1] if deep else more.pop("width"), "outputs": outputs, **more}
    if wide is not None:
        config["wide"] = {"order": wide}
    if deep:
        config["deep"] = [{"order": k, "features": g, "activation": act} for k, g, act in deep]
    shifts = [draw.shift(nodes, directed) for _ in range(steps)]
    if subgraphs:
        shifts = [draw.subgraph(shifts[0]) for _ in range(subgraphs)]
    rows, columns = nodes * steps, outputs or config["features"]
    case = {
        "name": name, "config": config, "loss": loss, "threshold": 0.5, "optimizer": optimizer,
        "step_size": step_size, "delayed": delayed, "shifts": np.stack(shifts),
        "read": list(range(rows)) if read is None else read,
        "signal": draw.tensor(samples, rows, features, bound=1),
        "targets": draw.tensor(samples, rows, columns, bound=1),
        "labels": np.array([draw.below(columns) for _ in range(samples * rows)]).reshape(samples, rows),
        "params": parameters(config, draw),
    }
    case["powers"] = powers(case, 0)
    j, y, grad, dx = evaluate(case, case["params"], case["signal"])
    for tensor, g in grad.items():
        if not (tensor == "gain" and config.get("fixed_gains")):
            check_gradient(case, tensor, case["params"][tensor], g)
    check_gradient(case, "signal", case["signal"], dx)
    case.update(output=y, cost=j, grads=windows(grad), input_grad=dx, losses=train(case), params=windows(case["params"]))
    for unused in ["powers", "name"] + ["targets" if loss == "cross-entropy" else "labels"]:
        del case[unused]
    for given in ["signal", "shifts"] + ["targets"] * ("targets" in case):
        assert (case[given] == case[given].astype(np.float32)).all(), (name, given)
    return name, case


def windows(par):
    """Taps one by one: wide.tap.0, wide.tap.1 and so on."""
    out = {name: v for name, v in par.items() if not name.endswith(".tap")}
    for name in par.keys() - out.keys():
        out.update(("%s.%d" % (name, k), tap) for k, tap in enumerate(par[name]))
    return out


def text(v, indent="\n"):
    """JSON with a line per tensor, keys sorted, and as many digits as float64 needs to come back."""
    if isinstance(v, dict):
        return "{" + ",".join(indent + " " + json.dumps(k) + ": " + text(v[k], indent + " ") for k in sorted(v)) + indent + "}"
    return json.dumps(v.tolist() if isinstance(v, np.ndarray) else v, separators=(",", ":"))


def cases():
    relu, leaky, tanh = "relu", "leaky-relu", "tanh"
    entropy = "cross-entropy"
    yield make("filter", 1, 8, 4, 1, wide=3, width=5, outputs=3, loss=entropy)
    yield make("gnn", 2, 10, 4, 1, deep=[(3, 4, relu), (1, 5, relu)], outputs=3, loss=entropy, read=[7, 2, 4])
    yield make("wide-deep", 3, 12, 3, 2, wide=3, deep=[(2, 4, relu), (3, 5, leaky)], outputs=3, loss=entropy, read=[9, 0, 5, 6])
    yield make("wide-deep-plain", 4, 7, 3, 3, wide=2, deep=[(2, 4, tanh)], no_bias=True, fixed_gains=True,
               gains={"wide": 0.75, "deep": 1.25, "bias": 0.125}, optimizer="sgd", step_size=0.05)
    yield make("wide-deep-directed", 5, 9, 3, 2, wide=1, deep=[(2, 4, relu), (0, 3, tanh), (3, 6, "identity")], outputs=2,
               loss="smooth-l1", directed=True)
    delayed = {"steps": 6, "delayed": True, "directed": True}
    yield make("delayed-filter", 6, 7, 2, 2, wide=3, width=4, **delayed)
    yield make("delayed-1", 7, 7, 2, 2, wide=3, deep=[(2, 4, tanh)], outputs=2, **delayed)
    yield make("delayed-2", 8, 7, 2, 2, wide=1, deep=[(2, 5, tanh), (3, 4, tanh)], outputs=2, **delayed)
    yield make("subgraphs", 9, 10, 3, 1, deep=[(2, 5, relu), (2, 4, relu)], outputs=2, loss=entropy, read=[3, 6], subgraphs=STEPS)


if __name__ == "__main__":
    out = text(dict(cases())) + "\n"
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as f:
            f.write(out)
    else:
        sys.stdout.write(out)
