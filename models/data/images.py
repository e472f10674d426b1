#!/usr/bin/env python3
"""Prints sources, sizes and SHA-256 of the image files that `data = FOLDER` reads.

    python3 models/data/images.py            # prints only, fetches nothing
    python3 models/data/images.py FOLDER     # also checks the files in FOLDER; exit code 1 if no set is complete
"""

import gzip
import hashlib
import os
import sys
from pathlib import Path

SETS = {
    "MNIST (LeCun, Cortes, Burges 1998): 60,000 and 10,000 images of 28x28 pixels": {
        "where": "http://yann.lecun.com/exdb/mnist/ or https://ossci-datasets.s3.amazonaws.com/mnist/",
        "files": {
            "train-images-idx3-ubyte": (47_040_016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
            "train-labels-idx1-ubyte": (60_008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
            "t10k-images-idx3-ubyte": (7_840_016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
            "t10k-labels-idx1-ubyte": (10_008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
        },
    },
    "Fashion-MNIST (Xiao, Rasul, Vollgraf 2017): 60,000 and 10,000 images of 28x28 pixels; data = fashion-mnist": {
        "where": "Debian's package dataset-fashion-mnist, which data = fashion-mnist reads where it is installed",
        "files": {
            "train-images-idx3-ubyte": (47_040_016, "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"),
            "train-labels-idx1-ubyte": (60_008, "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"),
            "t10k-images-idx3-ubyte": (7_840_016, "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"),
            "t10k-labels-idx1-ubyte": (10_008, "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"),
        },
    },
    "CIFAR-10 (Krizhevsky 2009): 50,000 and 10,000 images of 32x32 pixels and three colours": {
        "where": "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz, to unpack (cifar-10-batches-bin)",
        "files": {
            "data_batch_1.bin": (30_730_000, "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"),
            "data_batch_2.bin": (30_730_000, "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"),
            "data_batch_3.bin": (30_730_000, "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"),
            "data_batch_4.bin": (30_730_000, "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"),
            "data_batch_5.bin": (30_730_000, "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"),
            "test_batch.bin": (30_730_000, "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"),
        },
    },
}


def content(path):
    """The bytes of a file, or of its .gz; None if neither exists."""
    packed = path.with_name(path.name + ".gz")
    if path.is_file():
        return path.read_bytes()
    return gzip.decompress(packed.read_bytes()) if packed.is_file() else None


def verdict(path, size, digest):
    found = content(path)
    if found is None:
        return "missing"
    if len(found) != size:
        return f"different: {len(found):,} bytes"
    return "right" if hashlib.sha256(found).hexdigest() == digest else "different SHA-256"


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0 if len(sys.argv) == 2 else 2
    folder = Path(sys.argv[1]) if len(sys.argv) == 2 else None
    if folder and not folder.is_dir():
        print(f"images.py: {str(folder)!r}: no such folder", file=sys.stderr)
        return 2
    whole = False
    for title, images in SETS.items():
        print(f"{title}\n  {images['where']}")
        found = []
        for name, (size, digest) in images["files"].items():
            found.append(verdict(folder / name, size, digest) if folder else "")
            print(f"  {name:<24} {size:>10,} bytes  {digest}  {found[-1]}".rstrip())
        whole |= all(one == "right" for one in found)
    return 0 if whole or not folder else 1


if __name__ == "__main__":
    try:
        code = main()
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        try:
            print(f"images.py: {type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
        finally:
            os._exit(2)  # without the flush at exit, which would fail again
    sys.exit(code)
