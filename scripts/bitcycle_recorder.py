"""Records a PyTorch training run as a bitcycle trace: real layer shapes, and the bits of every layer
in every iteration. One file; copy it beside your training script. Needs torch only.

    from bitcycle_recorder import Recorder

    with Recorder(model, "run.jsonl", bits=my_bits) as recorder:
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad(); loss.backward(); optimizer.step()
            recorder.step()                       # ends an iteration

The file appears when the block ends without an exception. Then:

    bitcycle trace stats run.jsonl
    bitcycle compare --trace run.jsonl

What is recorded
- Layers: every nn.Conv2d and nn.Linear (subclasses included) that runs, in the order of their first
  forward pass, with the shapes they really see. Other modules with weights are named in the notes.
- Bits: what `bits(name, module, inputs)` returns: (bits, grad_bits), (w, a, g), a dict with the keys
  of a trace record, or None for FP32. Without `bits`, attributes of the module are read (see
  ATTRIBUTES); a module that has none is FP32. A layer that is never quantised is FP32 in the header
  and has no records: it is outside the comparison, as in the papers.
- Only forward passes with gradients enabled count: evaluation is not training. A layer that runs
  twice in a step with other bits gets a second pass; with the same bits, a pass count of 2. A pass
  without a backward pass is [1, 0, 0]. A layer that does not run is skipped.
- dX of the first layer is counted, as the papers do, although PyTorch does not compute it;
  first_dx=False records it as it is.
- samples=FOLDER, sample_every=N: X, W and G of every layer as .npy (float32, at most
  sample_elements), in iterations 0, N, 2N, ...
"""

import array
import json
import os
import struct

import torch
from torch import nn

TRACE_VERSION = 1
MOST_PASSES = 8

# Names under which quantised modules keep their widths: the first that a module has counts.
ATTRIBUTES = {
    "w": ("weight_bits", "bits_w", "w_bits", "num_bits_weight", "num_bits", "bits"),
    "a": ("act_bits", "bits_a", "a_bits", "num_bits_act", "num_bits", "bits"),
    "g": ("grad_bits", "bits_g", "g_bits", "num_bits_grad", "num_grad_bits"),
}


def attribute_bits(_name, module, _inputs):
    """The default of `bits`: integer attributes of the module."""
    found = {}
    for tensor, names in ATTRIBUTES.items():
        for name in names:
            value = getattr(module, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 16:
                found[tensor] = value
                break
    return found if len(found) == 3 else None


def _work(value, name):
    """A bits value as the keys of a trace record."""
    if value is None:
        return {"quantised": False}
    if isinstance(value, dict):
        work = dict(value)
        if work.get("w") is not None and work.get("w") == work.get("a"):
            work = {"b": work["w"], **{k: v for k, v in work.items() if k not in ("w", "a")}}
        return work
    if len(value) == 2:
        work = {"b": value[0], "g": value[1]}
    elif len(value) == 3:
        work = {"w": value[0], "a": value[1], "g": value[2]}
        if value[0] == value[1]:
            work = {"b": value[0], "g": value[2]}
    else:
        raise ValueError(f"bits of {name}: {value!r} is neither (bits, grad), (w, a, g), a dict "
                         "nor None")
    for bits in work.values():
        if not isinstance(bits, int) or not 1 <= bits <= 16:
            raise ValueError(f"bits of {name}: {bits!r} is no whole number from 1 to 16")
    return work


def _pair(value):
    """3 or [3, 5]."""
    first, second = (value, value) if isinstance(value, int) else tuple(value)
    return first if first == second else [first, second]


def write_npy(path, tensor, most):
    """float32 values of a tensor as .npy (version 1.0), whole or its first `most`, flattened."""
    flat = tensor.detach().to("cpu", torch.float32).flatten()
    shape = tuple(tensor.shape)
    if flat.numel() > most:
        flat, shape = flat[:most], (most,)
    head = str({"descr": "<f4", "fortran_order": False, "shape": shape})
    head += " " * (-(len(head) + 11) % 64) + "\n"
    values = array.array("f", flat.tolist())
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode("latin-1"))
        out.write(values.tobytes())


class Recorder:
    """See the top of the file. Use as a context, or call close() (keep) or discard()."""

    def __init__(self, model, path, bits=None, name="", producer="bitcycle_recorder.py", notes="",
                 first_dx=True, samples=None, sample_every=100, sample_elements=65536):
        self.path = os.fspath(path)
        self.bits = bits or attribute_bits
        self.name, self.producer, self.notes = name, producer, notes
        self.first_dx = first_dx
        self.samples, self.sample_every, self.sample_elements = samples, sample_every, sample_elements
        self.iteration = 0
        self.batch = None
        self.layers = []      # of the header, in the order of first use
        self._index = {}      # module name -> index
        self._calls = {}      # index -> list of [work key, backward seen] of this iteration
        self._quantised = set()  # indices of layers that ever had bits
        self._held = {}       # (index, pass) -> record text without t
        self._odd_batches = 0
        self._others = sorted({type(m).__name__ for m in model.modules()
                               if isinstance(m, (nn.modules.conv._ConvNd, nn.RNNBase, nn.Bilinear,
                                                 nn.MultiheadAttention))
                               and not isinstance(m, nn.Conv2d)})
        # Beside the target until all is known: the header comes first in the file.
        self._body_path = f"{self.path}.body{os.getpid()}"
        self._body = open(self._body_path, "w", encoding="utf-8")
        self._handles = []
        for module_name, module in model.named_modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                self._handles.append(module.register_forward_hook(self._hook(module_name)))
        if samples:
            os.makedirs(samples, exist_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, _value, _traceback):
        if kind is None:
            self.close()
        else:
            self.discard()

    def _hook(self, name):
        def forward_hook(module, inputs, output):
            if not torch.is_grad_enabled() or not isinstance(output, torch.Tensor):
                return
            index = self._index.get(name)
            if index is None:
                index = self._add_layer(name, module, inputs[0])
            elif self._rows(module, inputs[0]) != self.layers[index][1]:
                self._odd_batches += 1
            work = _work(self.bits(name, module, inputs), name)
            if work.get("quantised", True):
                self._quantised.add(index)
            call = [json.dumps(work, separators=(",", ":")), False,
                    inputs[0].requires_grad or self.first_dx]
            self._calls.setdefault(index, []).append(call)
            sampling = self.samples and self.iteration % self.sample_every == 0
            if sampling:
                self._sample(index, "x", inputs[0])
                self._sample(index, "w", module.weight)
            if output.requires_grad:
                def backward_hook(gradient):
                    call[1] = True
                    if sampling:
                        self._sample(index, "g", gradient)
                output.register_hook(backward_hook)
        return forward_hook

    def _sample(self, index, tensor, value):
        file = f"it{self.iteration:07d}_{index:03d}_{tensor}.npy"
        write_npy(os.path.join(self.samples, file), value, self.sample_elements)

    @staticmethod
    def _rows(module, x):
        return x.shape[0] if isinstance(module, nn.Conv2d) else x.numel() // x.shape[-1]

    def _add_layer(self, name, module, x):
        layer = {"name": name or type(module).__name__}
        if isinstance(module, nn.Conv2d):
            if self.batch is None:
                self.batch = x.shape[0]
            pad = module.padding
            if pad == "same":  # PyTorch pads the end more where the total is odd; stride is 1
                pad = [d * (k - 1) // 2 for d, k in zip(module.dilation, module.kernel_size)]
            elif pad == "valid":
                pad = 0
            if module.dilation[0] != module.dilation[1]:
                raise ValueError(f"layer {name}: two dilations {module.dilation} cannot be recorded")
            layer.update(cin=module.in_channels, cout=module.out_channels, hi=x.shape[2],
                         wi=x.shape[3], kernel=_pair(module.kernel_size),
                         stride=_pair(module.stride), pad=_pair(pad))
            if module.dilation[0] != 1:
                layer["dilation"] = module.dilation[0]
            if module.groups != 1:
                layer["groups"] = module.groups
        else:
            if self.batch is None:
                self.batch = x.shape[0]
            layer.update(m=x.numel() // x.shape[-1], n=module.out_features, k=module.in_features)
        index = len(self.layers)
        self._index[name] = index
        self.layers.append((layer, self._rows(module, x)))
        return index

    def _put(self, index, number, work):
        key = (index, number)
        if self._held.get(key) == work:
            return
        # A layer that appears late was skipped until now; an absent pass needs no record.
        if key not in self._held:
            if number > 0 and work == {"skip": True}:
                return
            if number == 0 and self.iteration > 0:
                raise RuntimeError(f"layer {self.layers[index][0]['name']} runs for the first time "
                                   f"in iteration {self.iteration}; let all layers run in the first")
        self._held[key] = work
        record = {"t": self.iteration, "layer": index}
        if number > 0:
            record["pass"] = number
        record.update(work)
        self._body.write(json.dumps(record, separators=(",", ":")) + "\n")

    def step(self):
        """Ends an iteration."""
        if not self._calls:
            raise RuntimeError("step(): no layer has run in this iteration")
        for index in range(len(self.layers)):
            passes = {}  # work -> repetitions of forward, dX, dW
            for text, backward, dx in self._calls.get(index, []):
                count = passes.setdefault(text, [0, 0, 0])
                count[0] += 1
                count[1] += 1 if backward and dx else 0
                count[2] += 1 if backward else 0
            if len(passes) > MOST_PASSES:
                raise RuntimeError(f"layer {self.layers[index][0]['name']}: more than {MOST_PASSES} "
                                   "different widths in one iteration")
            for number, (text, count) in enumerate(passes.items()):
                work = json.loads(text)
                if count != [1, 1, 1]:
                    work["passes"] = count
                self._put(index, number, work)
            for number in range(len(passes), MOST_PASSES):
                if number == 0 or (index, number) in self._held:
                    self._put(index, number, {"skip": True})
        self._calls = {}
        self.iteration += 1

    def _stop(self):
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._body.close()

    def discard(self):
        """Ends the recording and leaves nothing."""
        self._stop()
        if os.path.exists(self._body_path):
            os.remove(self._body_path)

    def close(self):
        """Ends the recording; the trace is there when this returns."""
        if self.iteration == 0:
            self.discard()
            raise RuntimeError("nothing recorded: call step() at the end of each iteration")
        self._stop()
        notes = [self.notes] if self.notes else []
        if self._odd_batches:
            notes.append(f"{self._odd_batches} layer passes had another batch and are counted as "
                         "whole ones")
        if self._others:
            notes.append("not recorded: " + ", ".join(self._others))
        header = {"bitcycle_trace": TRACE_VERSION}
        if self.name:
            header["name"] = self.name
        header.update(iterations=self.iteration, batch=self.batch, producer=self.producer)
        if notes:
            header["notes"] = "; ".join(notes)
        if not self._quantised:
            os.remove(self._body_path)
            raise RuntimeError("no layer ever had bits: check `bits`, or ATTRIBUTES")
        header["layers"] = [layer if i in self._quantised else {**layer, "quantised": False}
                            for i, (layer, _) in enumerate(self.layers)]
        records = 0
        partial = f"{self.path}.part{os.getpid()}"
        with open(partial, "w", encoding="utf-8") as out:
            out.write(json.dumps(header, separators=(",", ":")) + "\n")
            with open(self._body_path, encoding="utf-8") as body:
                for line in body:
                    if json.loads(line)["layer"] in self._quantised:
                        out.write(line)
                        records += 1
            out.write(json.dumps({"end": records}, separators=(",", ":")) + "\n")
        os.replace(partial, self.path)
        os.remove(self._body_path)
