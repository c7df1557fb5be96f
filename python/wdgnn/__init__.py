"""Graph neural networks that keep learning inside the network they run on.

    import wdgnn

    model = wdgnn.Model.load("model.safetensors")
    Y = model.predict("graph.csv", X)              # samples×nodes×outputs

    with wdgnn.World(model, nodes=50, learn={"preset": "auto"}) as world:
        answer = world.step(rows, links=links)     # every node answers
        world.tell(targets)                        # and learns with its neighbours

Models in PyTorch are a module of their own, wdgnn_torch.
"""

from importlib.metadata import PackageNotFoundError as _PackageNotFoundError, version as _version

from ._program import Error, find_program, run_program
from .model import Model
from .world import Answer, World

__all__ = ["Answer", "Error", "Model", "World", "find_program", "run_program"]
try:
    __version__ = _version("wdgnn")
except _PackageNotFoundError:  # a checkout on the path
    __version__ = "devel"
