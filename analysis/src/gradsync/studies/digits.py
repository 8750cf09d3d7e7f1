# SPDX-License-Identifier: GPL-2.0-only
"""Handwritten digits and a small network that learns them, in NumPy."""

import gzip
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradsync.errors import ScenarioError

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]

_CLASSES = 10
_TEST_SAMPLES = 597
LAYERS = (64, 256, 128, _CLASSES)
SOURCE = "UCI optical recognition of handwritten digits, 1797 images of 8 x 8, as shipped by scikit-learn"


@dataclass(frozen=True)
class Digits:
    """Images as rows of 64 numbers from 0 to 1, split into those to learn and those to test."""

    images: Floats
    labels: Labels
    test_images: Floats
    test_labels: Labels


def package_version() -> str:
    """The version of the package that ships the images."""
    return version("scikit-learn")


def read_digits(seed: int) -> Digits:
    """The images, shuffled and split by the seed.

    Raises ScenarioError if the package that ships them is not installed.
    """
    found = find_spec("sklearn")  # which imports nothing
    if found is None or not found.submodule_search_locations:
        raise ScenarioError("the digits come with scikit-learn, which is not installed")
    path = Path(found.submodule_search_locations[0]) / "datasets" / "data" / "digits.csv.gz"
    with gzip.open(path, "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    order = np.random.default_rng(seed).permutation(len(table))
    images = (table[order, :64] / 16).astype(np.float32)
    labels = table[order, 64].astype(np.int64)
    split = len(table) - _TEST_SAMPLES
    return Digits(images[:split], labels[:split], images[split:], labels[split:])


class Network:
    """Fully connected layers with ReLU between them and a softmax at the end."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self._shapes: list[tuple[int, ...]] = []
        parts = []
        for before, after in zip(LAYERS, LAYERS[1:]):
            self._shapes += [(before, after), (after,)]
            weights = random.normal(0.0, np.sqrt(2.0 / before), before * after)
            parts += [weights, np.zeros(after)]
        self.weights = np.concatenate(parts).astype(np.float32)

    @property
    def tensors(self) -> list[int]:
        """Elements of each tensor, in the order of the weights and of gradients."""
        return [int(np.prod(shape)) for shape in self._shapes]

    def _split(self, flat: Floats) -> list[Floats]:
        ends = np.cumsum(self.tensors)[:-1]
        pairs = zip(np.split(flat, ends), self._shapes)
        return [part.reshape(shape) for part, shape in pairs]

    def _forward(self, images: Floats) -> list[Floats]:
        """What each layer puts out, the images first; of the last, before the softmax."""
        tensors = self._split(self.weights)
        values = [images]
        for layer in range(len(LAYERS) - 1):
            out = values[-1] @ tensors[2 * layer] + tensors[2 * layer + 1]
            values.append(out if layer == len(LAYERS) - 2 else np.maximum(out, 0))
        return values

    def gradient(self, images: Floats, labels: Labels) -> Floats:
        """Of the mean cross entropy, as long as the weights."""
        values = self._forward(images)
        tensors = self._split(self.weights)
        shifted = np.exp(values[-1] - values[-1].max(axis=1, keepdims=True))
        delta = shifted / shifted.sum(axis=1, keepdims=True)
        delta[np.arange(len(labels)), labels] -= 1
        delta /= np.float32(len(labels))
        parts: list[Floats] = []
        for layer in reversed(range(len(LAYERS) - 1)):
            parts[:0] = [(values[layer].T @ delta).ravel(), delta.sum(axis=0)]
            if layer:
                delta = (delta @ tensors[2 * layer].T) * (values[layer] > 0)
        return np.concatenate(parts).astype(np.float32)

    def accuracy(self, images: Floats, labels: Labels) -> float:
        """The share of images that it tells right."""
        return float((self._forward(images)[-1].argmax(axis=1) == labels).mean())
