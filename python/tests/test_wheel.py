"""Tests of what writes wheels.

    CHECKOUT=.. python3 -m unittest test_wheel
"""

import base64
import csv
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, os.path.join(os.environ["CHECKOUT"], "python", "backend"))

import wdgnn_wheel  # noqa: E402


class Versions(unittest.TestCase):
    def test_of_git_in_python(self):
        for described, want in {
            "v1.0.0": "1.0.0", "1.2": "1.2", "v1.0rc1": "1.0rc1", "v1.0.0-3-gabc1234": "1.0.0.post3+gabc1234", "abc1234": "0+gabc1234", "v2": "2",
            "9549656": "0+g9549656",
            "abc1234-dirty": "0+gabc1234.dirty", "v1.0.0-dirty": "1.0.0+dirty", "results-partA-5-gabc1234": "0+results.partA.5.gabc1234",
            "": "0+unknown",
        }.items():
            self.assertEqual(wdgnn_wheel.pep440(described), want)


class Wheels(unittest.TestCase):
    def write(self, folder, target, ending="", epoch="1700000000"):
        programs = os.path.join(folder, "programs" + ending)
        os.makedirs(programs, exist_ok=True)
        for name in wdgnn_wheel.PROGRAMS:
            with open(os.path.join(programs, name + ending), "wb") as f:
                f.write(b"\x7fELF" + name.encode())
        os.environ["SOURCE_DATE_EPOCH"] = epoch
        try:
            return wdgnn_wheel.write(folder, "v1.0.0", wdgnn_wheel.TAGS[target], wdgnn_wheel.find(programs))
        finally:
            del os.environ["SOURCE_DATE_EPOCH"]

    def test_names_and_tags(self):
        with tempfile.TemporaryDirectory() as folder:
            names = [self.write(folder, target, ".exe" if target.startswith("windows") else "") for target in wdgnn_wheel.TAGS]
            self.assertEqual(names, [
                "wdgnn-1.0.0-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl",
                "wdgnn-1.0.0-py3-none-manylinux2014_aarch64.musllinux_1_1_aarch64.whl",
                "wdgnn-1.0.0-py3-none-macosx_11_0_arm64.whl",
                "wdgnn-1.0.0-py3-none-win_amd64.whl",
            ])
            with zipfile.ZipFile(os.path.join(folder, names[0])) as archive:
                text = archive.read("wdgnn-1.0.0.dist-info/WHEEL").decode()
                self.assertIn("Root-Is-Purelib: false\nTag: py3-none-manylinux2014_x86_64\nTag: py3-none-musllinux_1_1_x86_64\n", text)
            with zipfile.ZipFile(os.path.join(folder, names[3])) as archive:
                self.assertIn("wdgnn-1.0.0.data/scripts/wdgnn-agent.exe", archive.namelist())

    def test_every_file_is_recorded_and_programs_may_run(self):
        for target in wdgnn_wheel.TAGS:
            with self.subTest(target), tempfile.TemporaryDirectory() as folder:
                ending = ".exe" if target.startswith("windows") else ""
                self.check(os.path.join(folder, self.write(folder, target, ending)), ending)

    def check(self, path, ending):
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            inside = archive.namelist()
            self.assertEqual(len(set(inside)), len(inside))
            tags = [line.split("-", 2)[2] for line in archive.read("wdgnn-1.0.0.dist-info/WHEEL").decode().splitlines() if line.startswith("Tag: ")]
            self.assertEqual(os.path.basename(path), f"wdgnn-1.0.0-py3-none-{'.'.join(tags)}.whl")
            record = list(csv.reader(io.StringIO(archive.read("wdgnn-1.0.0.dist-info/RECORD").decode())))
            self.assertEqual(sorted(row[0] for row in record), sorted(inside))
            self.assertEqual(inside[-1], "wdgnn-1.0.0.dist-info/WHEEL")
            for path, digest, size in record[:-1]:
                data = archive.read(path)
                want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
                self.assertEqual((digest, size), (f"sha256={want}", str(len(data))))
            self.assertEqual(archive.getinfo(f"wdgnn-1.0.0.data/scripts/wdgnn{ending}").external_attr >> 16, 0o100755)
            self.assertEqual(archive.getinfo("wdgnn/py.typed").external_attr >> 16, 0o100644)
            self.assertLess({"wdgnn/__init__.py", "wdgnn/py.typed", "wdgnn_torch.py", "wdgnn-1.0.0.dist-info/LICENSE"}, set(inside))

    def test_pip_takes_each_for_its_platform(self):
        with tempfile.TemporaryDirectory() as folder:
            names = {t: self.write(folder, t, ".exe" if t.startswith("windows") else "") for t in wdgnn_wheel.TAGS}
            for platform, target in {
                "manylinux2014_x86_64": "linux/amd64", "musllinux_1_1_x86_64": "linux/amd64", "manylinux2014_aarch64": "linux/arm64",
                "macosx_14_0_arm64": "darwin/arm64", "win_amd64": "windows/amd64",
                "macosx_11_0_x86_64": None, "win32": None,
            }.items():
                with self.subTest(platform), tempfile.TemporaryDirectory() as into:
                    done = subprocess.run(
                        [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "install", "--no-index", "--no-deps", "--no-cache-dir",
                         "--only-binary=:all:", "--find-links", folder, "--target", into, "--platform", platform, "wdgnn"],
                        capture_output=True, text=True)
                    if target is None:
                        self.assertIn("No matching distribution found for wdgnn", done.stderr)
                        continue
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertIn(names[target], done.stdout)
                    ending = ".exe" if target.startswith("windows") else ""
                    for program in wdgnn_wheel.PROGRAMS:
                        self.assertTrue(os.access(os.path.join(into, "bin", program + ending), os.X_OK), program)
                    self.assertTrue(os.path.exists(os.path.join(into, "wdgnn", "py.typed")))

    def test_same_files_same_bytes(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            a, b = (os.path.join(folder, self.write(folder, "linux/arm64")) for folder in (one, other))
            with open(a, "rb") as f, open(b, "rb") as g:
                self.assertEqual(f.read(), g.read())

    def test_programs_that_are_not_there(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(SystemExit, "no program wdgnn in"):
            wdgnn_wheel.find(folder)


if __name__ == "__main__":
    unittest.main()
