"""Writes weights files of several formats, for tests."""
import struct

import numpy as np

GGUF_TYPES = {"f4": (0, "<f4"), "f2": (1, "<f2"), "i1": (24, "i1"), "f8": (28, "<f8")}


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def bfloat16(array):
    """The upper halves of float32 numbers."""
    return (array.astype("<f4").view("<u4") >> 16).astype("<u2")


def tq2_0(trits, scale):
    """256 trits a block: the bits 2k and 2k+1 of 32 bytes are the trits 32k … 32k+31, plus one."""
    out = b""
    for block in trits.reshape(-1, 2, 4, 32) + 1:
        for half in block:
            out += (half[0] | half[1] << 2 | half[2] << 4 | half[3] << 6).astype(np.uint8).tobytes()
        out += np.float16(scale).tobytes()
    return out


def base3(rows):
    """Each column is a number of base 3, its first digit first, as a fraction of 256, rounded up."""
    value = sum((rows[k].astype(np.int64) + 1) * 3 ** (4 - k) for k in range(len(rows)))
    return ((value * 256 + 242) // 243).astype(np.uint8).tobytes()


def tq1_0(trits, scale):
    out = b""
    for block in trits.reshape(-1, 256):
        out += base3(block[:160].reshape(5, 32)) + base3(block[160:240].reshape(5, 16)) + base3(block[240:].reshape(4, 4)) + np.float16(scale).tobytes()
    return out


def i2_s(trits, scale):
    """128 trits in 32 bytes, the first in the highest bits."""
    out = b""
    for block in trits.reshape(-1, 4, 32) + 1:
        out += (block[0] << 6 | block[1] << 4 | block[2] << 2 | block[3]).astype(np.uint8).tobytes()
    return out + np.float32(scale).tobytes() + bytes(28)


TERNARY = {"TQ1_0": (34, tq1_0), "TQ2_0": (35, tq2_0), "I2_S": (36, i2_s)}


def gguf_value(key, value):
    """A row of the metadata."""
    kind, content = {str: (8, text), int: (4, lambda n: struct.pack("<I", n)), float: (6, lambda x: struct.pack("<f", x))}[type(value)]
    return text(key) + struct.pack("<I", kind) + content(value)


def gguf(arrays, version=3, alignment=32, architecture="test", values=()):
    """A file of these arrays by name, with rows of metadata. (type, trits, scale) is a ternary tensor, ("BF16", array) one of bfloat16."""
    infos, data = b"", b""
    for name, array in arrays.items():
        if isinstance(array, tuple) and array[0] == "BF16":
            shape, kind, content = array[1].shape, 30, bfloat16(array[1]).tobytes()
        elif isinstance(array, tuple):
            shape, kind, content = array[1].shape, TERNARY[array[0]][0], TERNARY[array[0]][1](array[1].ravel(), array[2])
        else:
            kind, dtype = GGUF_TYPES[array.dtype.str[1:]]
            shape, content = array.shape, array.astype(dtype).tobytes()
        data += bytes(-len(data) % alignment)
        infos += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", d) for d in reversed(shape)) + struct.pack("<IQ", kind, len(data))
        data += content
    words = struct.pack("<IQ", 8, 2) + text("a") + text("bc")
    metadata = [gguf_value("general.architecture", architecture), gguf_value("general.alignment", alignment),
                text("tokens") + struct.pack("<I", 9) + words, text("scores") + struct.pack("<IIQff", 9, 6, 2, 1, 2)]
    metadata += [gguf_value(f"{architecture}.{key}", value) for key, value in dict(values).items()]
    head = b"GGUF" + struct.pack("<IQQ", version, len(arrays), len(metadata)) + b"".join(metadata) + infos
    return head + bytes(-len(head) % alignment) + data
