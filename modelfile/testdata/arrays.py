"""Writes the .npy and .npz files of this folder with NumPy and SciPy.

Run it here:  python3 arrays.py

The Go tests know what the files hold from the formulas below.
"""

import numpy as np
import scipy.sparse as sparse

# a[i, j, k] = 100 i + 10 j + k - 50; i1 holds half of it, unsigned types 50 more.
i, j, k = np.indices((2, 3, 4))
a = 100 * i + 10 * j + k - 50

for name, dtype in {
    "f2": "<f2", "f4": "<f4", "f8": "<f8", "i2": "<i2", "i4": "<i4", "i8": "<i8",
    "f4be": ">f4", "f8be": ">f8", "i2be": ">i2", "i4be": ">i4", "i8be": ">i8",
}.items():
    np.save(f"{name}.npy", a.astype(dtype))
np.save("i1.npy", (a // 2).astype("i1"))
np.save("u1.npy", (a + 50).astype("u1"))
np.save("u2.npy", (a + 50).astype("<u2"))
np.save("u4.npy", (a + 50).astype("<u4"))
np.save("u8.npy", (a + 50).astype("<u8"))
np.save("b1.npy", a % 2 == 0)
np.save("fortran.npy", np.asfortranarray(a.astype("<f4")))
np.save("scalar.npy", np.float32(2.5))
np.save("empty.npy", np.zeros((0, 3), "<f4"))
np.save("complex.npy", np.zeros(2, "c8"))
np.save("object.npy", np.array([None, "x"], dtype=object))
np.save("record.npy", np.zeros(2, dtype=[("x", "<f4"), ("y", "<i4")]))
np.save("nan.npy", np.array([[0, 1], [np.nan, 3]], "<f4"))
np.save("large.npy", np.array([0, 1e39]))
for version in ((2, 0), (3, 0)):
    with open(f"version{version[0]}.npy", "wb") as f:
        np.lib.format.write_array(f, a.astype("<f4"), version=version)

np.savez("two.npz", signals=a.astype("<f4"), labels=np.arange(5))
np.savez_compressed("one.npz", a.astype("<f4"))

# A weighted path 0 - 1 - 2 - 3 and the directed cycle 0 → 1 → 2 → 0, whose
# links j → i are the entries (i, j).
path = sparse.coo_matrix(([1, 2, 3.5, 1, 2, 3.5], ([0, 1, 2, 1, 2, 3], [1, 2, 3, 0, 1, 2])), (4, 4))
cycle = sparse.coo_matrix((np.ones(3, "i1"), ([1, 2, 0], [0, 1, 2])), (3, 3))
for name, m in {"path": path, "cycle": cycle}.items():
    sparse.save_npz(f"{name}_coo.npz", m)
    sparse.save_npz(f"{name}_csr.npz", m.tocsr())
    sparse.save_npz(f"{name}_csc.npz", m.tocsc(), compressed=False)
    np.save(f"{name}.npy", m.toarray())
sparse.save_npz("path_dia.npz", path.todia())
