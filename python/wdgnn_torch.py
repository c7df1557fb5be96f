"""Models of wdgnn in PyTorch, both ways. One file; copy it where you need it.

    import wdgnn_torch

    model = wdgnn_torch.load("model.safetensors")    # a torch.nn.Module
    S = wdgnn_torch.shift(A, model.meta["shift"])    # A: N×N, A[i, j] > 0 if i hears j
    Y = model(S, X)                                  # X: B×N×F  ->  Y: B×N×C

    ...                                              # train it on, as any module
    wdgnn_torch.save(model, "model.safetensors")     # the Go program reads it

or from the beginning, with the architecture that doc/modelfile.md describes:

    model = wdgnn_torch.WideDeep({
        "in": 1, "features": 32, "outputs": 5,
        "wide": {"order": 4},
        "deep": [{"order": 4, "features": 32, "activation": "relu"}],
    }, shift="spectral", task="classify")

The model is the wide and deep graph neural network

    U = α_W A(X; S) + α_D Φ(X; S) + β        Y = U R + c

where the wide part A is one graph filter, Σ_k Sᵏ X A_k plus a bias, and the deep
part Φ is layers of graph filters, each followed by a pointwise nonlinearity. A
filter of order K has K+1 taps: A_0 weighs what a node sees itself, A_k what
arrives over k hops. With one part left out, U is the other part.

Parameters are called as in the file: wide.tap.0, wide.bias, deep.1.tap.3,
readout.weight, readout.bias, gain (α_W, α_D, β). All are float32, whatever
torch.set_default_dtype says; taps are inputs × outputs, so a signal is multiplied
from the left: X @ tap. Signals and shifts of other types are taken as the type of
the parameters, float64 after model.double().

From a shell, `python3 wdgnn_torch.py MODEL` prints what a file holds.

Needs PyTorch 1.13 or later and nothing else.
"""

import json
import math
import os
import struct
import sys
import tempfile

import torch
from torch import nn

FORMAT = "1"  # of the files that this module reads and writes
MAX_HEADER = 100_000_000  # bytes
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, RuntimeError)  # what a damaged file can cause

ACTIVATIONS = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "leaky-relu": lambda x: nn.functional.leaky_relu(x, 0.01),
    "identity": lambda x: x,
}

SHIFTS = ("adjacency", "spectral", "symmetric", "laplacian", "normalized-laplacian", "row-stochastic")


class Filter(nn.Module):
    """A graph filter of order K: bias + Σ_k Sᵏ X A_k, with taps A_k of inputs × outputs."""

    def __init__(self, inputs, outputs, order, bias=True):
        super().__init__()
        bound = 1 / math.sqrt((order + 1) * inputs)

        def draw(*shape):
            return nn.Parameter(torch.empty(*shape, dtype=torch.float32).uniform_(-bound, bound))

        self.tap = nn.ParameterList([draw(inputs, outputs) for _ in range(order + 1)])
        if bias:
            self.bias = draw(outputs)
        else:
            self.register_parameter("bias", None)

    @property
    def order(self):
        return len(self.tap) - 1

    def combine(self, shifted):
        """Returns bias + Σ_k Z_k A_k for the shifted signals Z_0 … Z_K (there may be more)."""
        y = shifted[0] @ self.tap[0]
        if self.bias is not None:
            y = y + self.bias
        for tap, z in zip(list(self.tap)[1:], shifted[1:]):
            y = y + z @ tap
        return y


class Readout(nn.Module):
    """Every node maps its own features to outputs: U @ weight + bias."""

    def __init__(self, features, outputs, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(features)

        def draw(*shape):
            return nn.Parameter(torch.empty(*shape, dtype=torch.float32).uniform_(-bound, bound))

        self.weight = draw(features, outputs)
        self.bias = draw(outputs) if bias else None

    def forward(self, u):
        y = u @ self.weight
        return y if self.bias is None else y + self.bias


class WideDeep(nn.Module):
    """The wide and deep graph neural network. See the top of this file.

    config  the architecture, a dict as in the file's "wdgnn.config"
    meta    a dict with shift, delayed, task, nodes (None: all), seed, version, and online if an online run
            left the model: what that run says of itself, JSON; forecast if it has sensors: what it knows of them;
            scale if its shift divides by λmax: that of training
    extra   further tensors of the file by name: "online.moment" (float64), "node.7.wide.tap.0", the taps of
            node 7; forward runs the network's own taps at every node
    """

    def __init__(self, config, *, shift="adjacency", delayed=False, task="", nodes=None, seed=0, version="", online="", forecast="", scale="",
                 extra=None):
        super().__init__()
        self.config = json.loads(json.dumps(config))  # a copy
        if shift not in SHIFTS:
            raise ValueError(f"no shift is called {shift!r}; try {', '.join(SHIFTS)}")
        self.meta = {"shift": shift, "delayed": bool(delayed), "task": task,
                     "nodes": list(nodes) if nodes else None, "seed": int(seed), "version": version}
        if online:
            self.meta["online"] = online
        if forecast:
            self.meta["forecast"] = forecast
        if scale:
            self.meta["scale"] = scale
        self.extra = dict(extra or {})
        unknown = set(config) - {"in", "features", "wide", "deep", "outputs", "no_bias", "fixed_gains", "gains"}
        if unknown:
            raise ValueError(f"the architecture has unknown keys {sorted(unknown)}; try a newer wdgnn_torch.py")

        inputs, features, bias = config["in"], config["features"], not config.get("no_bias", False)
        wide, layers = config.get("wide"), config.get("deep") or []
        if wide is None and not layers:
            raise ValueError("neither a wide nor a deep part: configure at least one")
        self.wide = Filter(inputs, features, wide["order"], bias) if wide is not None else None
        if wide is not None and wide.get("start_zero"):
            for p in self.wide.parameters():
                nn.init.zeros_(p)
        self.deep = nn.ModuleDict()
        self.activations = []
        for number, layer in enumerate(layers, 1):
            self.deep[str(number)] = Filter(inputs, layer["features"], layer["order"], bias)
            self.activations.append(ACTIVATIONS[layer.get("activation", "relu")])
            inputs = layer["features"]
        if layers and inputs != features:
            raise ValueError(f"the last layer gives {inputs} features, the model {features}: they must agree")
        self.readout = Readout(features, config["outputs"], bias) if config.get("outputs") else None
        if wide is not None and layers:
            g = config.get("gains") or {}
            start = [g.get("wide", 0), g.get("deep", 0), g.get("bias", 0)]
            self.gain = nn.Parameter(torch.tensor([float(v) for v in (start if any(start) else (1, 1, 0))], dtype=torch.float32),
                                     requires_grad=not config.get("fixed_gains", False))
        else:
            self.register_parameter("gain", None)

    @property
    def dtype(self):
        """The type of the parameters, in which everything is computed."""
        return next(self.parameters()).dtype

    def forward(self, S, X):
        """Returns Y, B×N×C, for signals X, B×N×F or N×F, on the graph shift S, N×N, dense or sparse."""
        S, X = S.to(self.dtype), X.to(self.dtype)

        def shifted(line, x, order):
            z = [x]
            for _ in range(order):
                z.append(apply_shift(S, z[-1]))  # Z_k = S Z_{k-1}
            return z

        return self._run(X, shifted)

    def forward_delayed(self, S_list, X_seq):
        """Runs the model on a graph that changes at every step, where information moves one hop per step.

        S_list  T graph shifts S_t, N×N each
        X_seq   T signals X_t, N×F or B×N×F each: a list, or a tensor with T in front

        Returns the outputs Y_t stacked, T in front. Nothing came before time 0.
        """
        if len(S_list) != len(X_seq):
            raise ValueError(f"{len(S_list)} shifts for {len(X_seq)} signals")
        before = {}  # by line, the shifted signals of the step before: Z_k(t) = S_t Z_{k-1}(t-1)
        outputs = []
        for S, X in zip(S_list, X_seq):
            S, X, now = S.to(self.dtype), X.to(self.dtype), {}

            def shifted(line, x, order):
                z = [x]
                for k in range(1, order + 1):
                    z.append(apply_shift(S, before[line][k - 1]) if before else torch.zeros_like(x))
                now[line] = z
                return z

            outputs.append(self._run(X, shifted))
            before = now
        return torch.stack(outputs)

    def _run(self, X, shifted):
        """Computes Y, given a function that returns [Z_0 … Z_K] of a signal on its line (0: the input)."""
        layers = list(self.deep.values())
        order = max([f.order for f in [self.wide] + layers[:1] if f is not None])
        z = shifted(0, X, order)
        wide = self.wide.combine(z) if self.wide is not None else None
        deep = None
        for number, (layer, activation) in enumerate(zip(layers, self.activations)):
            if number > 0:
                z = shifted(number, deep, layer.order)
            deep = activation(layer.combine(z))
        if wide is None:
            u = deep
        elif deep is None:
            u = wide
        else:
            u = self.gain[0] * wide + self.gain[1] * deep + self.gain[2]
        return u if self.readout is None else self.readout(u)


def apply_shift(S, X):
    """Returns S X for a dense or sparse S, N×N, and a signal X, N×F or B×N×F."""
    if S.layout == torch.strided:
        return S @ X
    if X.dim() == 2:
        return torch.sparse.mm(S, X)
    batch, nodes, features = X.shape
    side_by_side = X.permute(1, 0, 2).reshape(nodes, batch * features)
    return torch.sparse.mm(S, side_by_side).reshape(nodes, batch, features).permute(1, 0, 2)


def shift(A, kind):
    """Returns the graph shift of a dense adjacency matrix A, computed in float64, as float32.

    A[i, j] > 0 is the weight with which node i hears node j. Rows of nodes without
    neighbours are 0.
    """
    A = A.to(torch.float64)
    degree = A.sum(1)
    if kind == "adjacency":
        S = A
    elif kind == "spectral":
        largest = torch.linalg.eigvals(A).abs().max().item()
        S = A / largest if largest > 0 else torch.zeros_like(A)
    elif kind in ("symmetric", "normalized-laplacian"):
        if not torch.equal(A, A.T):
            raise ValueError(f"{kind} is for undirected graphs, A = Aᵀ; try row-stochastic")
        root = torch.where(degree > 0, degree, torch.ones_like(degree)).sqrt()
        S = A / root / root[:, None]
        if kind == "normalized-laplacian":
            S = torch.diag((degree > 0).to(A.dtype)) - S
    elif kind == "laplacian":
        S = torch.diag(degree) - A
    elif kind == "row-stochastic":
        S = A / torch.where(degree > 0, degree, torch.ones_like(degree))[:, None]
    else:
        raise ValueError(f"no shift is called {kind!r}; try {', '.join(SHIFTS)}")
    return S.to(torch.float32)


def load(path, online=True):
    """Returns the model in the file at path, a WideDeep. A file that does not fit is a ValueError.

    So is a model that learned online, unless online is False: forward then runs the network's own taps at every node,
    which are as trained if nodes learned taps of their own, and save writes back what nodes learned.
    """
    tensors, text = read_safetensors(path)
    if text.get("wdgnn.format") != FORMAT:
        raise ValueError(f"{path}: wdgnn.format is {text.get('wdgnn.format')!r}, want {FORMAT!r}")
    if online and ("wdgnn.online" in text or any(name.startswith("node.") for name in tensors)):
        raise ValueError(f"{path}: the model learned online, and WideDeep does not compute what nodes learned; try wdgnn.Model, "
                         "which does, or load(path, online=False) for the network without it")
    try:
        config = json.loads(text["wdgnn.config"])
        for name, shape in layout(config):  # before memory is taken for what the architecture claims
            if name not in tensors:
                raise ValueError(f"tensor {name} is missing")
            if list(tensors[name].shape) != shape:
                raise ValueError(f"tensor {name} has shape {list(tensors[name].shape)}, want {shape}")
        nodes = text.get("wdgnn.nodes", "")
        model = WideDeep(
            config, shift=text["wdgnn.shift"], delayed=text.get("wdgnn.delayed") == "true", task=text.get("wdgnn.task", ""),
            nodes=[int(n) for n in nodes.split(",")] if nodes else None,
            seed=int(text.get("wdgnn.seed") or 0), version=text.get("wdgnn.version", ""), online=text.get("wdgnn.online", ""),
            forecast=text.get("wdgnn.forecast", ""), scale=text.get("wdgnn.scale", ""))
        model.load_state_dict({name: tensors.pop(name) for name, _ in layout(config)})
    except DAMAGE as err:
        raise ValueError(f"{path}: {err}") from err
    for name in tensors:
        if not name.startswith(("online.", "node.")):
            raise ValueError(f"{path}: tensor {name!r} belongs neither to the architecture nor to online.… or node.…")
    model.extra = tensors
    return model


def layout(config):
    """Yields the name and shape of every tensor of an architecture, in the order of a file."""
    bias = not config.get("no_bias", False)

    def filter_(name, inputs, outputs, order):
        k = 0
        while k <= order:
            yield f"{name}.tap.{k}", [inputs, outputs]
            k += 1
        if bias:
            yield f"{name}.bias", [outputs]

    inputs, features, outputs = config["in"], config["features"], config.get("outputs", 0)
    wide, layers = config.get("wide"), config.get("deep") or []
    if wide is not None:
        yield from filter_("wide", inputs, features, wide["order"])
    for number, layer in enumerate(layers, 1):
        yield from filter_(f"deep.{number}", inputs, layer["features"], layer["order"])
        inputs = layer["features"]
    if outputs:
        yield "readout.weight", [features, outputs]
        if bias:
            yield "readout.bias", [outputs]
    if wide is not None and layers:
        yield "gain", [3]


def save(model, path):
    """Writes a WideDeep to the file at path, whole or not at all."""
    meta = model.meta
    text = {
        "wdgnn.config": json.dumps(model.config, separators=(",", ":")),
        "wdgnn.delayed": "true" if meta["delayed"] else "false",
        "wdgnn.format": FORMAT,
        "wdgnn.seed": str(meta["seed"]),
        "wdgnn.shift": meta["shift"],
        "wdgnn.task": meta["task"],
        "wdgnn.version": meta["version"],
    }
    if meta.get("online"):
        text["wdgnn.online"] = meta["online"]
    if meta.get("forecast"):
        text["wdgnn.forecast"] = meta["forecast"]
    if meta.get("scale"):
        text["wdgnn.scale"] = meta["scale"]
    if meta["nodes"]:
        text["wdgnn.nodes"] = ",".join(str(n) for n in meta["nodes"])
    own, extra = named_tensors(model), {name: model.extra[name] for name in sorted(model.extra)}
    precise = {name: value for name, value in extra.items() if value.dtype == torch.float64}
    tensors = {**precise, **{name: value.to(torch.float32) for name, value in {**own, **extra}.items() if name not in precise}}
    write_safetensors(path, tensors, text)


def named_tensors(model):
    """Returns the parameters of a model by name, in the order of a file."""
    state = model.state_dict()
    return {name: state[name] for name, _ in layout(model.config)}


def read_safetensors(path):
    """Returns the tensors of a safetensors file, as float32 (further ones may be float64), and its metadata."""
    if sys.byteorder != "little":
        raise RuntimeError("this reader needs a little-endian machine")
    dtypes = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16}
    with open(path, "rb") as f:
        size = os.fstat(f.fileno()).st_size
        start = f.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else size
        if 8 + length > size or length > MAX_HEADER:
            raise ValueError(f"{path}: the header does not fit the file: it is cut off or not a safetensors file")
        head = f.read(length)
        data = bytearray(f.read())
    tensors, end = {}, 0
    try:
        header = json.loads(head.decode("utf-8"))
        text = dict(header.pop("__metadata__", {}))
        for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            (begin, stop), shape, dtype = entry["data_offsets"], entry["shape"], dtypes[entry["dtype"]]
            width = torch.empty(0, dtype=dtype).element_size()
            if begin != end or stop > len(data) or any(n < 1 for n in shape) or math.prod(shape) * width != stop - begin:
                raise ValueError(f"tensor {name!r}: shape {shape} does not fill bytes {begin} to {stop}")
            values = torch.frombuffer(data, dtype=dtype, count=math.prod(shape), offset=begin)
            keep = torch.float64 if dtype == torch.float64 and name.startswith(("online.", "node.")) else torch.float32
            tensors[name] = values.reshape(shape).to(keep).clone()
            if not torch.isfinite(tensors[name]).all():
                raise ValueError(f"tensor {name!r} holds values that are not finite")
            end = stop
    except DAMAGE as err:
        raise ValueError(f"{path}: header: {err}") from err
    if end != len(data):
        raise ValueError(f"{path}: {len(data) - end} bytes belong to no tensor")
    return tensors, text


def write_safetensors(path, tensors, text):
    """Writes tensors of float32 or float64, in the order of the dict, with metadata; whole or not at all."""
    if sys.byteorder != "little":
        raise RuntimeError("this writer needs a little-endian machine")
    header, blocks, begin = {"__metadata__": dict(sorted(text.items()))}, [], 0
    for name, value in tensors.items():
        value = value.detach().to("cpu")
        if not torch.isfinite(value).all():
            raise ValueError(f"tensor {name} holds values that are not finite")
        block = bytearray(value.element_size() * value.numel())
        torch.frombuffer(block, dtype=value.dtype).copy_(value.reshape(-1))
        dtype = {torch.float32: "F32", torch.float64: "F64"}[value.dtype]
        header[name] = {"dtype": dtype, "shape": list(value.shape), "data_offsets": [begin, begin + len(block)]}
        blocks.append(block)
        begin += len(block)
    head = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    head += b" " * (-len(head) % 8)  # values begin at a multiple of 8 bytes
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".wdgnn-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(struct.pack("<Q", len(head)))
            f.write(head)
            for block in blocks:
                f.write(block)
            f.flush()
            os.fsync(f.fileno())
        os.chmod(temporary, os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def summary(model):
    """Returns a few lines that describe a model."""
    meta = model.meta
    lines = [f"architecture  {json.dumps(model.config)}"]
    lines += [f"{key:<13} {'all' if key == 'nodes' and value is None else value}" for key, value in meta.items()]
    state = named_tensors(model)
    lines.append(f"parameters    {sum(v.numel() for v in state.values())}")
    for name, value in list(state.items()) + sorted(model.extra.items()):
        lines.append(f"  {name:<24} {'×'.join(str(n) for n in value.shape):>10}   norm {value.norm():.4g}")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("Usage: python3 wdgnn_torch.py MODEL", file=sys.stderr)
        sys.exit(2)
    try:
        print(summary(load(sys.argv[1], online=False)))
    except (OSError, ValueError) as err:
        print(f"wdgnn_torch: {err}", file=sys.stderr)
        sys.exit(1)
