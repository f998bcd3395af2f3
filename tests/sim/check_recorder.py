#!/usr/bin/env python3
"""Trains the example with the recorder and compares the trace with the script's own log, iteration by
iteration. Exit code 77 (skipped) without torch.

  tests/sim/check_recorder.py PROGRAM      (the built bitcycle)
"""

import csv
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIAN_PYTHON = "/usr/bin/python3"


def bits_of_trace(path):
    """{(iteration, layer name): (bits, grad_bits)} by replaying the records, independently of the
    program."""
    with open(path, encoding="utf-8") as lines:
        header = json.loads(next(lines))
        records = [json.loads(line) for line in lines]
    assert records.pop()["end"] == len(records)
    names = [layer["name"] for layer in header["layers"]]
    held, out, at = {}, {}, 0
    for t in range(header["iterations"]):
        while at < len(records) and records[at]["t"] == t:
            held[names[records[at]["layer"]]] = (records[at]["b"], records[at]["g"])
            at += 1
        for name, bits in held.items():
            out[t, name] = bits
    assert at == len(records)
    return out


def bits_of_log(path):
    with open(path, encoding="utf-8") as lines:
        return {(int(r["iteration"]), r["layer"]): (int(r["bits"]), int(r["grad_bits"]))
                for r in csv.DictReader(lines)}


def check_extras():
    """What the example does not show: two passes, repetitions, skips, attributes, failures."""
    import torch
    from torch import nn
    sys.path.insert(0, str(ROOT / "scripts"))
    from bitcycle_recorder import Recorder

    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(2, 4, 3, padding="same", groups=2), nn.ReLU(), nn.Flatten(),
                          nn.Linear(64, 5))
    x = torch.randn(3, 2, 4, 4)
    wanted = {"bits": (4, 5, 6)}
    with Recorder(model, "extras.jsonl", bits=lambda *_: wanted["bits"], name="extras") as recorder:
        model(x).sum().backward()
        recorder.step()
        model(x).sum().backward()
        model(x).sum().backward()      # the same bits twice: repetitions
        recorder.step()
        model(x).sum().backward()
        wanted["bits"] = (2, 2)
        model(x)                       # a second pass, forward only
        recorder.step()
        model[0](x).sum().backward()   # the linear layer rests
        recorder.step()
    with open("extras.jsonl", encoding="utf-8") as lines:
        header, *records, end = [json.loads(line) for line in lines]
    assert header["layers"][0] == {"name": "0", "cin": 2, "cout": 4, "hi": 4, "wi": 4, "kernel": 3,
                                   "stride": 1, "pad": 1, "groups": 2}, header
    assert header["layers"][1] == {"name": "3", "m": 3, "n": 5, "k": 64}, header
    full = {"w": 4, "a": 5, "g": 6}
    low = {"b": 2, "g": 2}
    assert records == [
        {"t": 0, "layer": 0, **full}, {"t": 0, "layer": 1, **full},
        {"t": 1, "layer": 0, **full, "passes": [2, 2, 2]},
        {"t": 1, "layer": 1, **full, "passes": [2, 2, 2]},
        {"t": 2, "layer": 0, **full}, {"t": 2, "layer": 0, "pass": 1, **low, "passes": [1, 0, 0]},
        {"t": 2, "layer": 1, **full}, {"t": 2, "layer": 1, "pass": 1, **low, "passes": [1, 0, 0]},
        {"t": 3, "layer": 0, **low}, {"t": 3, "layer": 0, "pass": 1, "skip": True},
        {"t": 3, "layer": 1, "skip": True}, {"t": 3, "layer": 1, "pass": 1, "skip": True},
    ], records
    assert end == {"end": len(records)}

    # A run that breaks leaves nothing; FP32 everywhere is no trace.
    before = set(os.listdir("."))
    try:
        with Recorder(model, "broken.jsonl", bits=lambda *_: (8, 8)) as recorder:
            model(x)
            raise KeyError("the user's own")
    except KeyError:
        pass
    for bits, error in ((lambda *_: (8, 99), ValueError), (lambda *_: (1, 2, 3, 4), ValueError),
                        (None, RuntimeError)):
        try:
            with Recorder(model, "broken.jsonl", bits=bits) as recorder:
                model(x).sum().backward()
                recorder.step()
        except error:
            continue
        raise AssertionError(f"{error} expected")
    assert set(os.listdir(".")) == before, set(os.listdir(".")) - before
    model[0].num_bits, model[0].num_grad_bits = 3, 7
    with Recorder(model, "attributes.jsonl") as recorder:
        model(x).sum().backward()
        recorder.step()
    with open("attributes.jsonl", encoding="utf-8") as lines:
        assert '{"t":0,"layer":0,"b":3,"g":7}' in lines.read()


def main():
    program = os.path.abspath(sys.argv[1])
    if importlib.util.find_spec("torch") is None:
        if os.path.exists(DEBIAN_PYTHON) and not os.environ.get("BITCYCLE_RECORDER_RETRY"):
            os.environ["BITCYCLE_RECORDER_RETRY"] = "1"
            os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])
        print("skipped: no torch (Debian: python3-torch)")
        return 77
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        example = str(ROOT / "workloads/examples/train_cnn_cpt.py")
        subprocess.run([sys.executable, example, "--iterations", "64", "--samples", "samples"],
                       check=True)
        trace, log = bits_of_trace("cnn-cpt.jsonl"), bits_of_log("cnn-cpt.csv")
        assert len(log) == 3 * 64
        assert trace == log, {k: (trace.get(k), log.get(k)) for k in log if trace.get(k) != log[k]}
        # The comparison can fail.
        first = next(iter(log))
        assert trace != {**log, first: (log[first][0] + 1, 8)}
        # The example in the tree is what the script makes.
        shipped = ROOT / "workloads/examples/cnn-cpt.jsonl"
        assert shipped.read_bytes() == pathlib.Path("cnn-cpt.jsonl").read_bytes()
        import numpy
        x = numpy.load("samples/it0000000_000_x.npy")
        assert x.shape == (16, 3, 32, 32) and x.dtype == numpy.float32
        assert numpy.load("samples/it0000000_003_g.npy").shape == (16, 10)
        check_extras()
        for name in ("cnn-cpt", "extras", "attributes"):
            subprocess.run([program, "trace", "validate", name + ".jsonl"], check=True)
            subprocess.run([program, "compare", "--trace", name + ".jsonl"], check=True,
                           stdout=subprocess.DEVNULL)
    print("recorder: trace and log agree in every iteration and layer")
    return 0


if __name__ == "__main__":
    sys.exit(main())
