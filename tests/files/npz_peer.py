"""NumPy's side of the .npz round trip.

Usage: npz_peer.py IN OUT COMPRESSED
Reads IN, writes OUT: every array doubled under its own name, and as float16 under NAME.f16.
COMPRESSED is 0 or 1.
"""
import sys
import zipfile

import numpy as np


def main():
    source, target, compressed = sys.argv[1:]
    if zipfile.ZipFile(source).testzip() is not None:
        sys.exit("zipfile finds the archive damaged")
    with np.load(source, allow_pickle=False) as arrays:
        out = {}
        for name in arrays.files:
            out[name] = arrays[name] * 2
            out[name + ".f16"] = arrays[name].astype("<f2")
    save = np.savez_compressed if compressed == "1" else np.savez
    save(target, **out)


if __name__ == "__main__":
    main()
