"""Where the programs are, and running them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig


class Error(RuntimeError):
    """What a program of wdgnn says is wrong, in its words."""


def find_program(name: str = "wdgnn") -> str:
    """Returns the path of wdgnn or wdgnn-agent: the one that was installed with this package, or else on the PATH."""
    file = name + (".exe" if os.name == "nt" else "")
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    user = f"{os.name}_user"  # pip install --user
    if user in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", user))
    for folder in folders:
        path = os.path.join(folder, file)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    found = shutil.which(name)
    if found is None:
        raise Error(f"there is no program {name} in {folders[0]} or on the PATH; install a wheel of wdgnn, which holds it, "
                    f"or, in a checkout: go install ./cmd/{name}")
    return found


def run_program(*args: str) -> str:
    """Runs wdgnn and returns what it prints. If it fails, that is an Error in its words."""
    done = subprocess.run([find_program(), *args], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        raise Error(done.stderr.strip() or f"wdgnn {args[0]} ended with exit code {done.returncode}")
    return done.stdout
