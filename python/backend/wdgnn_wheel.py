"""Writes wheels of wdgnn: the module, and the programs for one platform. Standard library only.

pip calls it, as pyproject.toml says:

    pip install ./python              programs are built with go if it is there
    WDGNN_BIN=bin pip install ./python    programs are taken from a folder

Without either the package comes without programs, and looks for them on the PATH. make release calls it as a program,
once for each platform:

    python3 python/backend/wdgnn_wheel.py --version v1.0.0 --target linux/amd64 --programs FOLDER --out dist

The same files give the same bytes; files in a wheel bear the time SOURCE_DATE_EPOCH.
"""

import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PROGRAMS = ("wdgnn", "wdgnn-agent")

# By the names that Go gives to platforms. Programs are static: any Linux will do, also one with musl.
TAGS = {
    "linux/amd64": ("manylinux2014_x86_64", "musllinux_1_1_x86_64"),
    "linux/arm64": ("manylinux2014_aarch64", "musllinux_1_1_aarch64"),
    "darwin/arm64": ("macosx_11_0_arm64",),
    "windows/amd64": ("win_amd64",),
}

METADATA = """\
Metadata-Version: 2.1
Name: wdgnn
Version: {version}
Summary: Graph neural networks that keep learning inside the network they run on
License: Apache-2.0
Requires-Python: >=3.9
Description-Content-Type: text/markdown
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Provides-Extra: torch
Requires-Dist: torch>=1.13; extra == "torch"

{readme}"""


def pep440(described):
    """Returns what `git describe --tags --always --dirty` says as a version of Python.

    v1.2.0 is 1.2.0, v1.2.0-3-gabc1234 is 1.2.0.post3+gabc1234, abc1234 is 0+gabc1234; -dirty adds .dirty behind the +. A commit
    may have digits only: a version begins with v, or has a dot.
    """
    text, dirty = re.subn(r"-dirty$", "", described)
    tag = re.fullmatch(r"(?:v|(?=\d+\.))(\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?)(?:-(\d+)-(g[0-9a-f]+))?", text)
    if tag:
        version, local = tag[1] + (f".post{tag[2]}" if tag[2] else ""), tag[3] or ""
    elif re.fullmatch(r"[0-9a-f]{4,40}", text):
        version, local = "0", "g" + text
    else:
        version, local = "0", re.sub(r"[^A-Za-z0-9]+", ".", text).strip(".") or "unknown"
    local = ".".join(part for part in (local, "dirty" if dirty else "") if part)
    return version + (f"+{local}" if local else "")


def metadata(version):
    readme = read(os.path.join(HERE, "README.md")).decode("utf-8")
    return METADATA.format(version=version, readme=readme).encode("utf-8")


def wheel(tags, pure):
    lines = ["Wheel-Version: 1.0", "Generator: wdgnn", f"Root-Is-Purelib: {str(pure).lower()}"]
    return "".join(f"{line}\n" for line in [*lines, *(f"Tag: py3-none-{tag}" for tag in tags)]).encode("ascii")


def write(folder, version, tags, programs, level=9):
    """Writes a wheel, compressed to a level, and returns the name of its file. programs are paths of files; none for any platform."""
    version = pep440(version)
    info, scripts = f"wdgnn-{version}.dist-info", f"wdgnn-{version}.data/scripts"
    files = {}  # name -> (bytes, mode)
    for name in ("wdgnn_torch.py", *(f"wdgnn/{n}" for n in os.listdir(os.path.join(HERE, "wdgnn")))):
        if name.endswith((".py", "py.typed")):
            files[name] = (read(os.path.join(HERE, name)), 0o644)
    for path in programs:
        files[f"{scripts}/{os.path.basename(path)}"] = (read(path), 0o755)
    files[f"{info}/METADATA"] = (metadata(version), 0o644)
    files[f"{info}/WHEEL"] = (wheel(tags, not programs), 0o644)
    licence = os.path.join(os.path.dirname(HERE), "LICENSE")
    if os.path.exists(licence):
        files[f"{info}/LICENSE"] = (read(licence), 0o644)
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, (data, _) in sorted(files.items()))
    files[f"{info}/RECORD"] = ((record + f"{info}/RECORD,,\n").encode("utf-8"), 0o644)
    name = f"wdgnn-{version}-py3-none-{'.'.join(tags)}.whl"
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH") or 0), 315532800))[:6]  # zip begins with 1980
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for inside, (data, mode) in sorted(files.items(), key=lambda file: (file[0].startswith(info), file[0])):
            entry = zipfile.ZipInfo(inside, date)
            entry.create_system, entry.external_attr = 3, (0o100000 | mode) << 16  # a plain file, as Unix has them
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, level)
    return name


def read(path):
    with open(path, "rb") as f:
        return f.read()


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode("ascii").rstrip("=")


def find(folder):
    """Returns the programs in a folder, all of them or a mistake."""
    paths = []
    for name in PROGRAMS:
        found = [p for p in (os.path.join(folder, name), os.path.join(folder, name + ".exe")) if os.path.isfile(p)]
        if not found:
            raise SystemExit(f"wdgnn_wheel: there is no program {name} in {folder}")
        paths.append(found[0])
    return paths


def described():
    """Returns the version of the checkout."""
    git = shutil.which("git")
    if git:
        done = subprocess.run([git, "-C", HERE, "-c", "safe.directory=*", "describe", "--tags", "--always", "--dirty"],
                              capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.strip()
    return "unknown"


# What pip calls.


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    version = pep440(described())
    info = f"wdgnn-{version}.dist-info"
    os.makedirs(os.path.join(metadata_directory, info))
    with open(os.path.join(metadata_directory, info, "METADATA"), "wb") as f:
        f.write(metadata(version))
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    here = [re.sub(r"[-.]", "_", sysconfig.get_platform())]
    version, folder = described(), os.environ.get("WDGNN_BIN")
    if folder:
        return write(wheel_directory, version, here, find(folder), level=1)
    go, root = shutil.which("go"), os.path.dirname(HERE)
    if go is None or not os.path.exists(os.path.join(root, "cmd", "wdgnn-agent")):
        print("wdgnn_wheel: no go and no WDGNN_BIN: a package without programs, which are sought on the PATH", file=sys.stderr)
        return write(wheel_directory, version, ["any"], [])
    with tempfile.TemporaryDirectory() as built:
        subprocess.run([go, "build", "-trimpath", "-buildvcs=false", "-ldflags", f"-s -w -X main.release={version}", "-o",
                        built + os.sep, *(f"./cmd/{name}" for name in PROGRAMS)],
                       cwd=root, env={**os.environ, "CGO_ENABLED": "0"}, check=True)
        return write(wheel_directory, version, here, find(built), level=1)


def main():
    parser = argparse.ArgumentParser(description="Write a wheel of wdgnn with the programs for one platform.")
    parser.add_argument("--version", required=True, help="as git describe says it")
    parser.add_argument("--target", required=True, choices=TAGS, help="platform, as Go calls it")
    parser.add_argument("--programs", required=True, help="folder with wdgnn and wdgnn-agent")
    parser.add_argument("--out", required=True, help="folder to write to")
    parser.add_argument("--level", type=int, default=9, help="how hard to compress, 0 to 9")
    args = parser.parse_args()
    print(write(args.out, args.version, TAGS[args.target], find(args.programs), args.level))


if __name__ == "__main__":
    main()
