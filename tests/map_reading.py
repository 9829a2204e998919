"""Reads what render/packing.py packs, as render/map/map.js does: for tests of maps."""

import base64

import numpy as np


def unpacked(packed):
    content = base64.b64decode(packed["data"])
    if packed["form"] == "float":
        return np.frombuffer(content, "<f4").tolist()
    found, value, shift = [], 0, 0
    for byte in content:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(-(value + 1) // 2 if value & 1 else value // 2)
            value = shift = 0
    return np.cumsum(found).tolist() if packed["form"] == "steps" else found


def values_of(content, panel=0):
    """{place: value} of a panel."""
    own = content["panels"][panel]
    return dict(zip(unpacked(own["cells"]), unpacked(own["values"]), strict=True))
