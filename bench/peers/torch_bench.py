#!/usr/bin/env python3
"""The tasks of `wdgnn bench`, written for PyTorch.

    torch_bench.py [--tasks a,b] [--threads 1] [--seconds 2] [--device cpu|cuda]
                   [--compile] [--list] [--about] [--any-blas]

Prints one JSON line per task and variant. Sizes and distributions are those of
the Go side; see internal/perf. Where there is more than one sensible way to
write a task, each is a variant, and the comparison takes the fastest:

    batch        the usual way: tensors are batch × nodes × features, sparse
                 indices are of the default type
    node         tensors are nodes × batch × features, so that one plain product
                 shifts the whole batch
    one-by-one   a filter adds one shifted signal after the other to its output,
                 instead of one product with all of them side by side; sparse
                 indices of 32 bits
    tracked      the largest eigenvalue of a graph by the power method from the
                 eigenvector of the step before, instead of by eigvalsh

The model is that of the paper: a graph filter (wide) plus a graph neural
network (deep), blended with learned gains, then a linear readout at each node.
Filters have no bias here; those of the Go side have one.
"""
import argparse
import datetime
import functools
import json
import os
import re
import sys
import time
import warnings


def arguments():
    p = argparse.ArgumentParser(description="The tasks of `wdgnn bench` in PyTorch.")
    p.add_argument("--tasks", default="", help="names separated by commas; all by default")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--seconds", type=float, default=2.0, help="time per task and variant, at least three runs")
    p.add_argument("--device", default="cpu", help="cpu or cuda")
    p.add_argument("--compile", action="store_true", help="let torch.compile (torch 2) work on every training step and model")
    p.add_argument("--list", action="store_true", help="print the names of the tasks and stop")
    p.add_argument("--about", action="store_true", help="print the versions of torch and of its BLAS and stop")
    p.add_argument("--any-blas", action="store_true", help="run on the CPU even without an optimised BLAS")
    return p.parse_args()


ARGS = arguments()
if ARGS.threads < 1:
    sys.exit("torch_bench: --threads must be at least 1")
# BLAS libraries read their number of threads when they are loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[variable] = str(ARGS.threads)

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError as missing:
    sys.exit(f"torch_bench: {missing}\nTry, on Debian: apt-get install python3-torch libopenblas0-pthread")

torch.set_num_threads(ARGS.threads)
warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
DEVICE = torch.device(ARGS.device)
TASKS = {}  # name -> generator of (variant, function, extra fields)


def task(name):
    """Registers a generator of variants under the name of the task."""
    def register(make):
        TASKS[name] = make
        return make
    return register


# ---------------------------------------------------------------- environment

def blas():
    """Name of the BLAS that torch calls on the CPU; "reference" if none that is optimised was found."""
    build = torch.__config__.show()
    version = re.search(r"Math Kernel Library Version ([0-9.]+)", build)
    if version:
        return f"MKL {version[1]}"
    if re.search(r"Math Kernel Library|BLAS_INFO=mkl", build) or torch.backends.mkl.is_available():
        return "MKL"
    torch.mm(torch.ones(64, 64), torch.ones(64, 64))  # loads what is loaded late
    try:
        with open("/proc/self/maps") as maps:
            libraries = {os.path.basename(os.path.realpath(line.split()[-1])) for line in maps if ".so" in line}
    except OSError:
        return "Accelerate" if sys.platform == "darwin" else "unknown"
    for name in sorted(libraries):
        if re.match(r"lib(openblas|blis|mkl|flexiblas|atlas|armpl)", name):
            return re.sub(r"^lib|\.so.*$", "", name)
    return "reference"


def peak_bytes():
    if DEVICE.type == "cuda":
        return torch.cuda.max_memory_allocated()
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def settle():
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def measure(work):
    """Best and mean time of one call and the number of calls, after a warm-up."""
    now = time.perf_counter
    work()
    settle()
    end = now() + min(ARGS.seconds / 10, 0.1)
    while now() < end:
        work()
    settle()
    best, total, runs, end = float("inf"), 0.0, 0, now() + ARGS.seconds
    while runs < 3 or now() < end:
        start = now()
        work()
        settle()
        took = now() - start
        best, total, runs = min(best, took), total + took, runs + 1
    return best, total / runs, runs


# ---------------------------------------------------------------------- model

def beside(hop, x, order):
    """[X, SX, ..., S^K X] along the features, given one hop of the shift."""
    z = [x]
    for _ in range(order):
        z.append(hop(z[-1]))
    return torch.cat(z, dim=-1)


def batch_hop(s):
    return lambda z: torch.matmul(s, z)


def node_hop(s):
    return lambda z: torch.mm(s, z.reshape(z.shape[0], -1)).view_as(z)


def delayed_hop(s):
    """One hop takes one step of time: s is ... × T × N × N, signals are ... × T × N × F."""
    def hop(z):
        late = torch.matmul(s[..., 1:, :, :], z[..., :-1, :, :])
        return F.pad(late, (0, 0, 0, 0, 1, 0))
    return hop


class WideDeep(nn.Module):
    def __init__(self, inputs, features, order, layers, outputs, activation=torch.relu):
        super().__init__()
        self.order, self.activation = order, activation
        widths = [inputs] + [features] * layers

        def taps(rows, cols):
            return nn.Parameter(torch.randn((order + 1) * rows, cols) / 10)
        self.wide = taps(inputs, features)
        self.deep = nn.ParameterList([taps(a, b) for a, b in zip(widths, widths[1:])])
        self.gain = nn.Parameter(torch.tensor([1.0, 1.0, 0.0]))
        self.readout = nn.Linear(features, outputs)
        self.to(DEVICE)

    def head(self, wide, deep):
        return self.readout(self.gain[0] * wide + self.gain[1] * deep + self.gain[2])

    def folded(self, z, deep):
        """head(z @ self.wide, deep) with the wide taps multiplied by the readout before the signal."""
        r = self.readout.weight.T
        return z @ (self.gain[0] * (self.wide @ r)) + deep @ (self.gain[1] * r) + (self.gain[2] * r.sum(0) + self.readout.bias)

    def forward(self, x, hop, fold=False):
        z = beside(hop, x, self.order)
        h = self.activation(z @ self.deep[0])
        for taps in list(self.deep)[1:]:
            h = self.activation(beside(hop, h, self.order) @ taps)
        return self.folded(z, h) if fold else self.head(z @ self.wide, h)


def compiled(f):
    return torch.compile(f, mode="reduce-overhead" if DEVICE.type == "cuda" else "default") if ARGS.compile else f


def training(model, rate, j):
    """A whole training step with the loss j()."""
    fused = DEVICE.type == "cuda" and int(torch.__version__.split(".")[0]) >= 2
    adam = torch.optim.Adam(model.parameters(), lr=rate, **({"fused": True} if fused else {"foreach": True}))
    j = compiled(j)

    def step():
        adam.zero_grad(set_to_none=True)
        j().backward()
        adam.step()
    return step


# ---------------------------------------------------------------------- tasks

def gemm(m, k, n, at=False, bt=False):
    """C = A B; A or B is stored transposed where at or bt is set."""
    a, b = torch.randn(*((k, m) if at else (m, k)), device=DEVICE), torch.randn(*((n, k) if bt else (k, n)), device=DEVICE)
    a, b, c = a.T if at else a, b.T if bt else b, torch.empty(m, n, device=DEVICE)
    yield "mm", lambda: torch.mm(a, b, out=c), {"flops": 2.0 * m * k * n}


for name, shape in {
    "gemm_2500_192_32": (2500, 192, 32), "gemm_1000_24_32": (1000, 24, 32), "gemm_1024_1024_1024": (1024, 1024, 1024),
    "gemm_atb_192_2500_32": (192, 2500, 32, True), "gemm_abt_2500_32_192": (2500, 32, 192, False, True),
}.items():
    task(name)(functools.partial(gemm, *shape))


DETECTORS = [1, 11, 21, 31, 41]


def block_model():
    """S = A/lambda_max of 50 nodes in five blocks, edges .8 inside and .2 between."""
    block = np.arange(50) // 10
    chance = np.where(block[:, None] == block, 0.8, 0.2)
    upper = np.triu(np.random.rand(50, 50) < chance, 1)
    a = (upper | upper.T).astype(np.float32)
    return torch.tensor(a / np.abs(np.linalg.eigvalsh(a)).max(), device=DEVICE)


def localization(samples):
    detectors = torch.tensor(DETECTORS, device=DEVICE)
    x = torch.rand(samples, 50, 1, device=DEVICE)
    label = torch.randint(0, 5, (samples,), device=DEVICE)
    return block_model(), WideDeep(1, 32, 5, 2, 5), x, label, detectors


@task("sourceloc_train_step")
def sourceloc_train(samples=50):
    s, model, x, label, detectors = localization(samples)
    by_sample, hop = label.repeat_interleave(5), batch_hop(s)

    def batch():
        return F.cross_entropy(model(x, hop)[:, detectors].reshape(-1, 5), by_sample)
    yield "batch", training(model, 5e-3, batch), {"batch": samples}

    s, other, x, label, detectors = localization(samples)
    xn, by_node, nhop = x.transpose(0, 1).contiguous(), label.repeat(5), node_hop(s)

    def node():
        return F.cross_entropy(other(xn, nhop)[detectors].reshape(-1, 5), by_node)
    yield "node", training(other, 5e-3, node), {"batch": samples}


@task("sourceloc_train_step_1000")
def sourceloc_train_many():
    return sourceloc_train(1000)


@task("sourceloc_train_step_pruned")
def sourceloc_train_pruned():
    def precompute(s, rows):
        powers = [torch.eye(50, device=DEVICE)]
        for _ in range(5):
            powers.append(s @ powers[-1])
        return torch.stack([p[rows] for p in powers], dim=1)  # detector × power × node

    s, model, x, label, detectors = localization(50)
    z, read = beside(batch_hop(s), x, 5), precompute(s, detectors).reshape(30, 50)
    zd, by_sample = z[:, detectors].contiguous(), label.repeat_interleave(5)

    def batch():
        h = torch.relu(z @ model.deep[0])
        q = torch.matmul(read, h).reshape(50, 5, 192)
        return F.cross_entropy(model.head(zd @ model.wide, torch.relu(q @ model.deep[1])).reshape(-1, 5), by_sample)
    yield "batch", training(model, 5e-3, batch), {"batch": 50}

    s, other, x, label, detectors = localization(50)
    zn = beside(node_hop(s), x.transpose(0, 1).contiguous(), 5)
    znd, flat, by_node = zn[detectors].reshape(250, 6), zn.reshape(2500, 6), label.repeat(5)
    rows = precompute(s, detectors).reshape(30, 50)

    def node():
        h = torch.relu(flat @ other.deep[0])
        q = torch.mm(rows, h.view(50, 1600)).view(5, 6, 50, 32).transpose(1, 2).reshape(250, 192)
        return F.cross_entropy(other.head(znd @ other.wide, torch.relu(q @ other.deep[1])), by_node)
    yield "node", training(other, 5e-3, node), {"batch": 50}


def movies():
    a = np.zeros((400, 400), np.float32)
    for row in a:
        row[np.random.choice(400, 10, replace=False)] = np.random.rand(10)
    s = torch.tensor(a / np.abs(np.linalg.eigvals(a)).max(), device=DEVICE)
    return s, WideDeep(1, 64, 5, 1, 1), torch.rand(5, 400, 1, device=DEVICE), torch.rand(5, device=DEVICE)


@task("movie_train_step")
def movie_train():
    s, model, x, rating = movies()
    hop = batch_hop(s)
    yield "batch", training(model, 5e-3, lambda: F.mse_loss(model(x, hop)[:, 7, 0], rating)), {"batch": 5}

    s, model, x, rating = movies()
    xn, nhop = x.transpose(0, 1).contiguous(), node_hop(s)
    yield "node", training(model, 5e-3, lambda: F.mse_loss(model(xn, nhop)[7, :, 0], rating)), {"batch": 5}

    s, model, x, rating = movies()
    hop = batch_hop(s)
    yield "batch, folded", training(model, 5e-3, lambda: F.mse_loss(model(x, hop, fold=True)[:, 7, 0], rating)), {"batch": 5}

    s, model, x, rating = movies()
    xn, nhop = x.transpose(0, 1).contiguous(), node_hop(s)
    yield "node, folded", training(model, 5e-3, lambda: F.mse_loss(model(xn, nhop, fold=True)[7, :, 0], rating)), {"batch": 5}


@task("movie_train_step_pruned")
def movie_train_pruned():
    s, model, x, rating = movies()
    z = beside(batch_hop(s), x, 5)[:, 7].contiguous()  # 5 users × 6 numbers

    def j():
        return F.mse_loss(model.head(z @ model.wide, torch.relu(z @ model.deep[0]))[:, 0], rating)
    yield "batch", training(model, 5e-3, j), {"batch": 5}


@task("flocking_train_step")
def flocking_train():
    trajectories, steps, robots = 20, 200, 50
    s = (torch.rand(trajectories, steps, robots, robots, device=DEVICE) < 0.12).float() / 8
    x = torch.randn(trajectories, steps, robots, 6, device=DEVICE)
    want = torch.randn(trajectories, steps, robots, 2, device=DEVICE)
    model, hop = WideDeep(6, 32, 3, 1, 2, torch.tanh), delayed_hop(s)
    yield "batch", training(model, 5e-4, lambda: F.mse_loss(model(x, hop), want)), {"batch": trajectories}

    model, hop = WideDeep(6, 32, 3, 1, 2, torch.tanh), delayed_hop(s)
    yield "batch, folded", training(model, 5e-4, lambda: F.mse_loss(model(x, hop, fold=True), want)), {"batch": trajectories}


@task("sourceloc_infer_one")
def sourceloc_infer():
    s, model, x, _, _ = localization(1)
    hop, xn, nhop = batch_hop(s), x[0], node_hop(s)

    def without_gradients(off, infer):
        infer = compiled(infer)

        def run():
            with off():
                infer()
        return run
    yield "batch", without_gradients(torch.no_grad, lambda: model(x, hop)), {"batch": 1}
    yield "node", without_gradients(torch.inference_mode, lambda: model(xn, nhop)), {"batch": 1}


def online():
    s, model, x, _, detectors = localization(1)
    return s, model, x[0], torch.full((5,), 3, device=DEVICE), detectors


def frozen(s, model, x):
    """Shifted input and output of the deep part, for one signal."""
    z = beside(node_hop(s), x, 5)
    h = torch.relu(beside(node_hop(s), torch.relu(z @ model.deep[0]), 5) @ model.deep[1])
    return z, h


@task("sourceloc_online_central_step")
def online_central():
    s, model, x, label, detectors = online()

    def step():
        with torch.no_grad():
            z, h = frozen(s, model, x)
        out = model.head(z @ model.wide, h)[detectors]
        d, = torch.autograd.grad(F.cross_entropy(out, label), model.wide)
        with torch.no_grad():
            model.wide.sub_(d, alpha=1e-3)
    yield "node", step, {"batch": 1}


@task("sourceloc_online_distributed_step")
def online_distributed():
    s, model, x, label, detectors = online()
    heard = (s > 0).float()
    degree = heard.sum(1)
    mixing = heard / (1 + torch.maximum(degree[:, None], degree))
    mixing += torch.diag(1 - mixing.sum(1))
    own = model.wide.detach().reshape(1, -1).repeat(50, 1)  # node × taps

    def step():
        nonlocal own
        with torch.no_grad():
            z, h = frozen(s, model, x)
        taps = own[detectors].view(5, 6, 32).requires_grad_()
        wide = torch.bmm(z[detectors].unsqueeze(1), taps).squeeze(1)
        j = F.cross_entropy(model.head(wide, h[detectors]), label, reduction="sum")
        d, = torch.autograd.grad(j, taps)
        own = mixing @ own
        own[detectors] -= 1e-3 * d.view(5, -1)
    yield "node", step, {"batch": 1}


ROBOTS, RADIUS, LIMIT = 50, 2.0, 10.0


def flight_start():
    """Positions on jittered rings and velocities of a team that is connected."""
    while True:
        ring, slot = [], []
        while len(ring) < ROBOTS:
            m = ring[-1] + 1 if ring else 1
            slots = int(2 * np.pi * m)
            ring += [m] * slots
            slot += [k / slots for k in range(slots)]
        ring, slot = np.array(ring[:ROBOTS], float), np.array(slot[:ROBOTS])
        spacing, apart = (RADIUS + 0.1) / 2, 0.1
        jitter = (spacing - apart) / 2
        radius = ring * spacing + np.random.uniform(-jitter, jitter, ROBOTS)
        angle = 2 * np.pi * slot + np.random.uniform(-1, 1, ROBOTS) * jitter / (ring * spacing)
        p = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
        d = np.linalg.norm(p[:, None] - p, axis=-1) + 1e9 * np.eye(ROBOTS)
        reach = np.linalg.matrix_power((d <= RADIUS) + np.eye(ROBOTS), ROBOTS)
        if d.min() >= apart and (reach > 0).all():
            v = np.random.uniform(-3, 3, (ROBOTS, 2)) + np.random.uniform(-3, 3, 2)
            return torch.tensor(p, device=DEVICE), torch.tensor(v, device=DEVICE)


def flight_model():
    """The controller of internal/perf: it brakes and keeps robots apart, and its deep part has little say."""
    model = WideDeep(6, 32, 3, 1, 2, torch.tanh).double().requires_grad_(False)
    model.wide.zero_()
    model.readout.weight[:] = 1e-3 * torch.tensor([1.0, -1.0], device=DEVICE).repeat(16)
    model.readout.bias.zero_()
    for c in range(2):
        model.readout.weight[:, c] = 0
        model.readout.weight[c, c] = 1
        model.wide[c, c], model.wide[4 + c, c] = -1, 0.1
        model.deep[0][:, c] = 0
    return model


class Team:
    """Robots in the plane, float64: who hears whom, what they sense, how they move."""

    def __init__(self, p, v, seconds, tracked):
        self.p, self.v, self.seconds, self.tracked = p, v, seconds, tracked
        self.eye = torch.eye(ROBOTS, dtype=p.dtype, device=DEVICE)
        self.vector = torch.full((ROBOTS,), ROBOTS ** -0.5, dtype=p.dtype, device=DEVICE)
        self.z = torch.zeros(ROBOTS, 24, dtype=p.dtype, device=DEVICE)

    def largest(self, a):
        if not self.tracked:
            return torch.linalg.eigvalsh(a)[-1]
        shifted, x, last = a + self.eye, self.vector, 0.0
        for _ in range(200):
            y = torch.mv(shifted, x)
            x = y / torch.linalg.vector_norm(y)
            value = float(torch.dot(x, torch.mv(shifted, x)))
            if abs(value - last) <= 1e-9 * value:
                break
            last = value
        self.vector = x
        return value - 1

    def sense(self):
        """Graph, features of eq. (23) and the delayed stack of eq. (24)."""
        p, v = self.p, self.v
        dx, dy = p[:, :1] - p[:, 0], p[:, 1:] - p[:, 1]
        d2 = torch.addcmul(dx * dx, dy, dy)
        a = (d2 <= RADIUS * RADIUS).to(p.dtype).sub_(self.eye)
        d2.clamp_(min=1e-6)
        inv2 = a / d2
        inv4 = inv2 / d2
        degree = a.sum(1)
        x = torch.stack([(inv4 * dx).sum(1), (inv4 * dy).sum(1), (inv2 * dx).sum(1), (inv2 * dy).sum(1)], 1)
        late = torch.mm(a / self.largest(a), self.z[:, :18])
        self.z = torch.cat([degree[:, None] * v - torch.mm(a, v), x, late], 1)
        return a, degree

    def move(self, u):
        u = u.clamp(-LIMIT, LIMIT)
        self.p = self.p + self.v * self.seconds + u * (self.seconds ** 2 / 2)
        self.v = self.v + u * self.seconds


@task("flocking_rollout")
def flocking_rollout():
    steps, model, (p, v) = 200, flight_model(), flight_start()

    def flight(tracked):
        def run():
            with torch.inference_mode():
                team = Team(p, v, 0.01, tracked)
                for _ in range(steps):
                    team.sense()
                    team.move(model.head(team.z @ model.wide, torch.tanh(team.z @ model.deep[0])))
        return run
    yield "batch", flight(False), {"robots": ROBOTS, "steps": steps}
    yield "tracked", flight(True), {"robots": ROBOTS, "steps": steps}


@task("flocking_online_step")
def flocking_online():
    model, (p, v) = flight_model(), flight_start()
    gamma, clip, seconds = 0.05, 1.0, 1e-6

    def learning(tracked):
        team, own = Team(p, v, seconds, tracked), model.wide.reshape(1, -1).repeat(ROBOTS, 1)  # robot × taps

        def run():
            nonlocal own
            with torch.inference_mode():
                a, degree = team.sense()
                z, count = team.z, (degree + 1)[:, None]
                wide = torch.bmm(z.unsqueeze(1), own.view(ROBOTS, 24, 32)).squeeze(1)
                u = model.head(wide, torch.tanh(z @ model.deep[0]))
                after = team.v + u.clamp(-LIMIT, LIMIT) * seconds
                slope = (after - (after + torch.mm(a, after)) / count) * (2 * seconds / count) * (u.abs() <= LIMIT)
                g = model.gain[0] * torch.mm(slope, model.readout.weight)  # of the wide part's output
                size = torch.linalg.vector_norm(z, dim=1) * torch.linalg.vector_norm(g, dim=1)
                g *= gamma / (size / clip).clamp_(min=1)[:, None]
                mixing = a / (1 + torch.maximum(degree[:, None], degree))
                mixing.diagonal().copy_(1 - mixing.sum(1))
                own = torch.mm(mixing, own)
                own.view(ROBOTS, 24, 32).baddbmm_(z.unsqueeze(2), g.unsqueeze(1), alpha=-1)
                team.move(u)
        return run
    yield "batch", learning(False), {"robots": ROBOTS}
    yield "tracked", learning(True), {"robots": ROBOTS}


@task("large_filter_forward")
def large_filter():
    nodes, degree, features, order = 1_000_000, 10, 32, 3
    band = nodes // degree
    column = (torch.randint(0, band, (nodes, degree)) + torch.arange(degree) * band).view(-1)
    start, value = torch.arange(0, nodes * degree + 1, degree), torch.rand(nodes * degree) / degree
    x = torch.randn(nodes, features, device=DEVICE)
    taps = torch.randn(order + 1, features, features, device=DEVICE)
    extra = {"nodes": nodes, "edges": nodes * degree, "features": features, "order": order}

    def shift(column, start):
        return torch.sparse_csr_tensor(start, column, value, (nodes, nodes)).to(DEVICE)

    s = shift(column.int(), start.int())  # half the memory of the default, and faster

    def one_by_one():
        with torch.inference_mode():
            z, y = x, x @ taps[0]
            for k in range(1, order + 1):
                z = s @ z
                y.addmm_(z, taps[k])
            return y
    yield "one-by-one", one_by_one, dict(extra)

    s = shift(column, start)

    def together():
        with torch.no_grad():
            return beside(lambda z: s @ z, x, order) @ taps.view(-1, features)
    yield "batch", together, dict(extra)


NODES, DEGREE, FEATURES = 1_000_000, 10, 32


def spmm(column, start, read):
    """One shift of a large graph; read is how many rows of X are counted as read."""
    edges = column.numel()
    s = torch.sparse_csr_tensor(start.int(), column.int(), torch.rand(edges) / DEGREE, (NODES, NODES)).to(DEVICE)
    x = torch.randn(NODES, FEATURES, device=DEVICE)
    moved = edges * 8 + NODES * (8 + 4 * FEATURES) + read * 4 * FEATURES

    def run():
        with torch.inference_mode():
            return s @ x
    yield "csr", run, {"nodes": NODES, "edges": edges, "features": FEATURES, "bytes": float(moved)}


def ten_each(column):
    return column.view(-1), torch.arange(0, NODES * DEGREE + 1, DEGREE)


@task("spmm_random")
def spmm_random():
    band = NODES // DEGREE
    column = torch.randint(0, band, (NODES, DEGREE)) + torch.arange(DEGREE) * band
    return spmm(*ten_each(column), NODES * DEGREE)


@task("spmm_banded")
def spmm_banded():
    reach = 1000
    step = 2 * reach // DEGREE
    first = (torch.arange(NODES) - reach).clamp(0, NODES - 2 * reach)
    column = first[:, None] + torch.arange(DEGREE) * step + torch.randint(0, step, (NODES, DEGREE))
    return spmm(*ten_each(column), NODES)


@task("spmm_scalefree")
def spmm_scalefree():
    low, rest, place = 10.0, 1 - 1 / (2.1 - 1), np.random.permutation(NODES)
    edge = (low + np.arange(NODES + 1)) ** rest
    degree = np.empty(NODES, np.int64)
    degree[place] = np.rint(np.diff(edge) / (edge[-1] - edge[0]) * NODES * DEGREE)
    row = np.repeat(np.arange(NODES), degree)
    rank = (edge[0] + np.random.rand(row.size) * (edge[-1] - edge[0])) ** (1 / rest) - low
    ends = np.unique(row * NODES + place[np.minimum(rank.astype(np.int64), NODES - 1)])
    start = np.concatenate([[0], np.cumsum(np.bincount(ends // NODES, minlength=NODES))])
    return spmm(torch.from_numpy(ends % NODES), torch.from_numpy(start), ends.size)


@task("stream_triad")
def stream_triad():
    n = 64 << 20
    a, b, c = (torch.ones(n, device=DEVICE) for _ in range(3))
    yield "add", lambda: torch.add(b, c, alpha=3.0, out=a), {"bytes": 12.0 * n}


# ----------------------------------------------------------------------- main

def main():
    if ARGS.list:
        print("\n".join(TASKS))
        return
    if ARGS.about:
        print(f"PyTorch {torch.__version__} with {blas()}, {sys.executable}")
        return
    names = [n.strip() for n in ARGS.tasks.split(",") if n.strip()] or list(TASKS)
    unknown = [n for n in names if n not in TASKS]
    if unknown:
        sys.exit(f"torch_bench: no task is called {', '.join(unknown)}; there are {', '.join(TASKS)}")
    if ARGS.compile and not hasattr(torch, "compile"):
        sys.exit(f"torch_bench: torch {torch.__version__} has no torch.compile; leave out --compile")
    if DEVICE.type == "cuda" and not torch.cuda.is_available():
        sys.exit(f"torch_bench: torch {torch.__version__} sees no CUDA device")
    library = blas() if DEVICE.type == "cpu" else "cuBLAS"
    if library == "reference":
        print("torch_bench: torch has no optimised BLAS here, so its products are some twenty times slower than they\n"
              "could be; a comparison would be worth nothing.\n"
              "Try, on Debian: apt-get install libopenblas0-pthread\n"
              "(--any-blas runs all the same, and the report says so)", file=sys.stderr)
        if not ARGS.any_blas:
            sys.exit(3)
    where = {
        "side": "torch", "torch": torch.__version__, "blas": library, "threads": ARGS.threads, "device": DEVICE.type,
        "compiled": ARGS.compile, "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if DEVICE.type == "cuda":
        where["device_name"] = torch.cuda.get_device_name()
    for name in names:
        torch.manual_seed(0)
        np.random.seed(0)
        for variant, work, extra in TASKS[name]():
            best, mean, runs = measure(work)
            line = {"task": name, "variant": variant, "best_s": best, "mean_s": mean, "runs": runs, **where}
            if "flops" in extra:
                line["gflops"] = extra["flops"] / best / 1e9
            if "bytes" in extra:
                line["gbytes_s"] = extra["bytes"] / best / 1e9
            memory = peak_bytes()
            if memory:
                line["max_rss_bytes" if DEVICE.type == "cpu" else "max_device_bytes"] = memory
            print(json.dumps({**line, **extra}), flush=True)


main()
