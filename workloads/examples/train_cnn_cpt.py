#!/usr/bin/env python3
"""Trains a small CNN on synthetic 32x32 images with a CPT-style quantiser, and records it.

  workloads/examples/train_cnn_cpt.py --trace cnn-cpt.jsonl --log cnn-cpt.csv

The log is written by the training loop itself, beside the recorder: a test compares both. Runs for
seconds on a CPU.
"""

import argparse
import math
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from bitcycle_recorder import Recorder  # noqa: E402


def affine(x, bits, dims=None, noise=False):
    """Quantises and dequantises in CPT's way: unsigned codes 0..2^bits-1, zero point = minimum."""
    low = x.amin(dims, keepdim=True) if dims else x.min()
    high = x.amax(dims, keepdim=True) if dims else x.max()
    most = 2 ** bits - 1
    scale = ((high - low) / most).clamp(min=1e-8)
    codes = (x - low) / scale
    if noise:
        codes = codes + torch.empty_like(codes).uniform_(-0.5, 0.5)
    return codes.clamp(0, most).round() * scale + low


class Quantise(torch.autograd.Function):
    """Straight-through: forward quantises, backward passes the gradient."""

    @staticmethod
    def forward(ctx, x, bits, dims):
        return affine(x, bits, dims)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None, None


class QuantiseGradient(torch.autograd.Function):
    """Identity forward; the gradient is quantised with stochastic rounding."""

    @staticmethod
    def forward(ctx, x, bits):
        ctx.bits = bits
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return affine(gradient, ctx.bits, noise=True), None


class QConv2d(nn.Conv2d):
    """Activations per tensor, weights per output channel, gradients per tensor."""

    num_bits, num_grad_bits = 8, 8

    def forward(self, x):
        x = Quantise.apply(x, self.num_bits, None)
        weight = Quantise.apply(self.weight, self.num_bits, (1, 2, 3))
        y = F.conv2d(x, weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
        return QuantiseGradient.apply(y, self.num_grad_bits)


class SmallCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = QConv2d(3, 16, 3, padding=1, bias=False)
        self.conv2 = QConv2d(16, 32, 3, stride=2, padding=1, bias=False)
        self.conv3 = QConv2d(32, 32, 3, stride=2, padding=1, bias=False)
        self.norm1, self.norm2, self.norm3 = nn.BatchNorm2d(16), nn.BatchNorm2d(32), nn.BatchNorm2d(32)
        self.fc = nn.Linear(32, 10)  # FP32, as in CPT

    def forward(self, x):
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.relu(self.norm2(self.conv2(x)))
        x = F.relu(self.norm3(self.conv3(x)))
        return self.fc(x.mean((2, 3)))


def cpt_bits(t, iterations, cycles, low, high):
    """CPT's schedule: cosine growth in every cycle, halves to the even number."""
    length = iterations // cycles
    z = (t % length) / length
    return round(low + 0.5 * (high - low) * (1 - math.cos(math.pi * z)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=64)
    parser.add_argument("--cycles", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--trace", default="cnn-cpt.jsonl")
    parser.add_argument("--log", default="cnn-cpt.csv", help="iteration,layer,bits,grad_bits")
    parser.add_argument("--samples", help="folder for .npy samples of X, W and G")
    args = parser.parse_args()

    torch.manual_seed(1)
    torch.set_num_threads(1)
    images = torch.randn(256, 3, 32, 32)
    labels = (images.mean((1, 2, 3)) * 400).long().remainder(10)
    model = SmallCnn()
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, weight_decay=1e-4)
    quantised = {name: m for name, m in model.named_modules() if isinstance(m, QConv2d)}
    losses = []
    with open(args.log, "w", encoding="utf-8") as log, \
            Recorder(model, args.trace, producer="train_cnn_cpt.py", samples=args.samples) as recorder:
        log.write("iteration,layer,bits,grad_bits\n")
        for t in range(args.iterations):
            bits = cpt_bits(t, args.iterations, args.cycles, 3, 8)
            for name, module in quantised.items():
                module.num_bits, module.num_grad_bits = bits, 8
                log.write(f"{t},{name},{bits},8\n")
            at = t * args.batch % len(images)
            loss = F.cross_entropy(model(images[at:at + args.batch]), labels[at:at + args.batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            recorder.step()
            losses.append(loss.item())
            if t % 16 == 0:  # must leave no mark in the trace
                model.eval()
                with torch.no_grad():
                    model(images[:args.batch])
                model.train()
    print(f"{args.trace}: {args.iterations} iterations, loss {losses[0]:.3f} -> {losses[-1]:.3f}")


if __name__ == "__main__":
    main()
