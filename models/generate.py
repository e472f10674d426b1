#!/usr/bin/env python3
"""Writes the model CSVs of this folder from a description of each architecture.

    python3 models/generate.py            rewrite every CSV
    python3 models/generate.py --check    write nothing; exit code 1 if a CSV differs

A layer is a function from an input shape of one sample to an output shape, with a row for each tensor that the layer
owns. `chain`, `fork` and `add` build networks of layers; a size that does not fit stops the generator. A shape is
(*positions, features): (224, 224, 3) for an image, (64, 768) for a sequence, (4096,) for a vector. Features come last
in all three, so one definition of a layer serves all.

FLOPs are those of one forward pass over one sample, two for each multiply-add of a convolution, matrix product or
attention. Elementwise work (bias, normalisation, activation, pooling) counts zero, so that a total is exactly twice
the multiply-adds that the literature quotes.

Transformers also count the bytes that forward keeps for backward (Korthikanti et al. 2022; README.md), with layers
that do no work: `saved` before a layer whose backward needs its input, `dropped` where dropout leaves a mask.
"""

import os
import sys
from collections import namedtuple
from functools import partial
from math import ceil, floor, prod
from pathlib import Path



class Row(namedtuple("Row", "tensor shape flop attention kept squares", defaults=[0, 0, 0])):
    """`shape` is the tensor's in PyTorch, () where the row is work without a tensor."""

    @property
    def parameters(self):
        return prod(self.shape) if self.shape else 0


Network = namedtuple("Network", "name shape layers parameters paper implementation note", defaults=[""])


# Putting layers together -------------------------------------------------------------------------------------------

def chain(*layers):
    """Each layer reads the output of the one before it."""
    def layer(shape):
        rows = []
        for step in layers:
            shape, more = step(shape)
            rows += more
        return shape, rows
    return layer


def fork(*branches):
    """All branches read the same input; their features are concatenated."""
    def layer(shape):
        shapes, rows = zip(*(branch(shape) for branch in branches))
        assert len({s[:-1] for s in shapes}) == 1, f"branches of different sizes: {shapes}"
        return (*shapes[0][:-1], sum(s[-1] for s in shapes)), sum(rows, [])
    return layer


def add(*branches):
    """All branches read the same input; their outputs are summed."""
    def layer(shape):
        shapes, rows = zip(*(branch(shape) for branch in branches))
        assert len(set(shapes)) == 1, f"a sum of different shapes: {shapes}"
        return shapes[0], sum(rows, [])
    return layer


def within(prefix, *layers):
    """The layers in a chain, with tensor names under `prefix`."""
    def layer(shape):
        shape, rows = chain(*layers)(shape)
        return shape, [row._replace(tensor=f"{prefix}.{row.tensor}") for row in rows]
    return layer


# Layers without parameters -----------------------------------------------------------------------------------------

def reshape(change):
    return lambda shape: (change(shape), [])


identity = reshape(lambda shape: shape)
flatten = reshape(lambda shape: (prod(shape),))
global_average = first_token = reshape(lambda shape: shape[-1:])


def pool(kernel, stride, padding=0, rounding=floor):
    return reshape(lambda shape: (*(rounding((n + 2 * padding - kernel) / stride) + 1 for n in shape[:-1]), shape[-1]))


def saved(shape):
    """Keeps the next layer's input for backward, in 16 bits."""
    return shape, [Row("saved", (), 0, kept=2 * prod(shape))]


def dropped(layer):
    """Adds a layer's dropout mask: one byte for each value."""
    def masked(shape):
        shape, rows = layer(shape)
        return shape, [*rows[:-1], rows[-1]._replace(kept=rows[-1].kept + prod(shape))]
    return masked


def attention(shape, heads=0, width=0, dropout=False):
    """Query, key and value lie side by side in the features, and are kept. Scores and weighted sum are two products
    over pairs of tokens. `width` is the query's; keys and values are narrower if several heads share them. Each head
    keeps the softmax output, and dropout's mask and result; without `heads` scores are never stored (FlashAttention)."""
    tokens, features = shape
    width = width or features // 3
    flop = 2 * (2 * tokens * tokens * width)
    squares = (5 if dropout else 2) * heads * tokens * tokens
    return (tokens, width), [Row("attention", (), flop, flop, 2 * tokens * features + squares, squares)]


def feed_forward(into, out):
    """Two products with a GELU between them, which keeps its input."""
    return chain(saved, into, saved, saved, out)


# Layers with parameters --------------------------------------------------------------------------------------------

def conv(name, features, kernel, stride=1, padding=None, bias=False, linear=False):
    """The default padding keeps the size at stride 1. The weight of a linear layer has no dimensions for its kernel."""
    kernels, strides = (size if isinstance(size, tuple) else (size, size) for size in (kernel, stride))

    def layer(shape):
        *positions, inputs = shape
        positions = [(n + 2 * (k // 2 if padding is None else padding) - k) // by + 1
                     for n, k, by in zip(positions, kernels, strides)]
        weight = (features, inputs) if linear else (features, inputs, *kernels)
        rows = [Row(f"{name}.weight", weight, 2 * prod(weight) * prod(positions)), Row(f"{name}.bias", (features,), 0)]
        return (*positions, features), rows if bias else rows[:1]
    return layer


linear = partial(conv, kernel=1, bias=True, linear=True)


def norm(name):
    """Batch or layer normalisation: a scale and a shift per feature."""
    return lambda shape: (shape, [Row(f"{name}.weight", shape[-1:], 0), Row(f"{name}.bias", shape[-1:], 0)])


def rms_norm(name):
    """A scale per feature."""
    return lambda shape: (shape, [Row(f"{name}.weight", shape[-1:], 0)])


def embedding(name, entries, features):
    return lambda shape: ((*shape, features), [Row(f"{name}.weight", (entries, features), 0)])


def lstm(name, index, hidden):
    """Four gates, each with a matrix for the input, one for the hidden state, and (in PyTorch) a bias for each matrix."""
    def layer(shape):
        tokens, inputs = shape
        weights = [("ih", (4 * hidden, inputs)), ("hh", (4 * hidden, hidden))]
        return (tokens, hidden), [
            *(Row(f"{name}.weight_{kind}_l{index}", size, 2 * prod(size) * tokens) for kind, size in weights),
            *(Row(f"{name}.bias_{kind}_l{index}", (4 * hidden,), 0) for kind, _ in weights)]
    return layer


def gru(name, hidden):
    """Three gates per direction, as in `lstm`: PyTorch's bidirectional GRU, whose directions DeepSpeech adds."""
    def layer(shape):
        tokens, inputs = shape
        weights = [("ih", (3 * hidden, inputs)), ("hh", (3 * hidden, hidden))]
        return (tokens, hidden), [row for way in ("", "_reverse") for row in (
            *(Row(f"{name}.weight_{kind}_l0{way}", size, 2 * prod(size) * tokens) for kind, size in weights),
            *(Row(f"{name}.bias_{kind}_l0{way}", (3 * hidden,), 0) for kind, _ in weights))]
    return layer


# Architectures, with the tensor names of the cited implementation --------------------------------------------------

def alexnet():
    layer = partial(conv, bias=True)
    return chain(
        layer("features.0", 64, 11, stride=4, padding=2), pool(3, 2), layer("features.3", 192, 5), pool(3, 2),
        layer("features.6", 384, 3), layer("features.8", 256, 3), layer("features.10", 256, 3), pool(3, 2), flatten,
        linear("classifier.1", 4096), linear("classifier.4", 4096), linear("classifier.6", 1000))


def vgg(convolutions, classifier, batch_norm=False):
    """Five groups of 3x3 convolutions, each followed by pooling. ReLU and pooling also take an index of `features`."""
    layers, index = [], 0
    for width, count in zip((64, 128, 256, 512, 512), convolutions):
        for _ in range(count):
            layers.append(conv(f"features.{index}", width, 3, bias=True))
            layers += [norm(f"features.{index + 1}")] if batch_norm else []
            index += 3 if batch_norm else 2
        layers.append(pool(2, 2))
        index += 1
    return chain(*layers, flatten, classifier)


def bottleneck(width, stride):
    projection = within("downsample", conv("0", 4 * width, 1, stride), norm("1"))
    return add(chain(conv("conv1", width, 1), norm("bn1"), conv("conv2", width, 3, stride), norm("bn2"),
                     conv("conv3", 4 * width, 1), norm("bn3")),
               lambda shape: identity(shape) if stride == 1 and shape[-1] == 4 * width else projection(shape))


def basic_block(width, stride):
    """Option A of the paper: a shortcut that changes shape subsamples and pads with zeros, without parameters."""
    return add(chain(conv("conv1", width, 3, stride), norm("bn1"), conv("conv2", width, 3), norm("bn2")),
               chain(pool(1, stride), reshape(lambda shape: (*shape[:-1], width))))


def projected_block(width, stride):
    """Option B of the paper: a shortcut that changes shape is a 1x1 convolution."""
    projection = within("shortcut", conv("0", width, 1, stride), norm("1"))
    return add(chain(conv("conv1", width, 3, stride), norm("bn1"), conv("conv2", width, 3), norm("bn2")),
               lambda shape: identity(shape) if stride == 1 and shape[-1] == width else projection(shape))


def residual_stages(block, width, counts):
    """Each stage but the first doubles the width, and halves the size in its first block."""
    return chain(*(within(f"layer{stage + 1}.{index}", block(width << stage, 2 if stage > 0 and index == 0 else 1))
                   for stage, count in enumerate(counts) for index in range(count)))


def resnet(counts):
    return chain(conv("conv1", 64, 7, stride=2), norm("bn1"), pool(3, 2, padding=1),
                 residual_stages(bottleneck, 64, counts), global_average, linear("fc", 1000))


def resnet_cifar(counts):
    return chain(conv("conv1", 16, 3), norm("bn1"),
                 residual_stages(basic_block, 16, counts), global_average, linear("fc", 10))


def resnet18_cifar():
    """The ImageNet network without its stride-2 start: a 3x3 convolution and no pooling."""
    return chain(conv("conv1", 64, 3), norm("bn1"),
                 residual_stages(projected_block, 64, [2, 2, 2, 2]), global_average, linear("linear", 10))


def preactivated_resnet_cifar(counts):
    """Normalisation before each convolution. The first block of every stage projects its normalised input, and normalises
    the projection too. The first convolution is 7x7 but does not halve the size; there is no final normalisation."""
    def block(width, stride, projects):
        def layer(shape):
            shape, before = norm("bn1")(shape)
            _, projected = within("shortcut", conv("conv", width, 1, stride), norm("bn"))(shape)
            shape, rest = chain(conv("conv1", width, 3, stride), norm("bn2"), conv("conv2", width, 3))(shape)
            return shape, before + (projected if projects else []) + rest
        return layer
    stages = (within(f"block_layer{stage + 1}.{index}",
                     block(32 << stage, 2 if stage > 0 and index == 0 else 1, projects=index == 0))
              for stage, count in enumerate(counts) for index in range(count))
    return chain(conv("initial_conv", 16, 7), norm("initial_bn"), *stages, global_average, linear("logits", 10))


def shake_shake(width):
    """Twelve blocks of two branches; a shortcut that changes shape is two 1x1 convolutions of half the features."""
    def halves(features, stride):
        halved = pool(1, stride)
        return chain(fork(chain(halved, conv("path1_conv", features // 2, 1, bias=True)),
                          chain(halved, conv("path2_conv", features // 2, 1, bias=True))), norm("final_path_bn"))

    def branch(name, features, stride):
        return within(name, conv("conv1", features, 3, stride, bias=True), norm("bn1"),
                      conv("conv2", features, 3, bias=True), norm("bn2"))

    def block(features, stride):
        return add(branch("branch_0", features, stride), branch("branch_1", features, stride),
                   lambda shape: identity(shape) if shape[-1] == features else halves(features, stride)(shape))
    blocks = (within(f"L{stage + 1}.layer_{index}", block(width << stage, 2 if stage > 0 and index == 0 else 1))
              for stage in range(3) for index in range(4))
    return chain(conv("init_conv", 16, 3, bias=True), norm("init_bn"), *blocks, global_average, linear("logits", 10))


def units(names, *parts, first=0):
    """Convolutions with batch normalisation: (features, kernel) or, without padding, (features, kernel, stride)."""
    return chain(*(
        within(names.format(index), conv("conv", *part, padding=0 if len(part) > 2 else None), norm("bn"))
        for index, part in enumerate(parts, first)))


def crossed(name, features):
    return fork(units(f"{name}a", (features, (1, 3))), units(f"{name}b", (features, (3, 1))))


def googlenet():
    def inception(name, one, reduce3, three, reduce5, five, projection):
        return within(f"inception{name}", fork(
            units("branch1", (one, 1)), units("branch2.{}", (reduce3, 1), (three, 3)),
            units("branch3.{}", (reduce5, 1), (five, 3)), units("branch4.1", (projection, 1))))
    return chain(
        within("conv1", conv("conv", 64, 7, stride=2), norm("bn")), pool(3, 2, rounding=ceil),
        units("conv{}", (64, 1), (192, 3), first=2), pool(3, 2, rounding=ceil),
        inception("3a", 64, 96, 128, 16, 32, 32), inception("3b", 128, 128, 192, 32, 96, 64), pool(3, 2, rounding=ceil),
        inception("4a", 192, 96, 208, 16, 48, 64), inception("4b", 160, 112, 224, 24, 64, 64),
        inception("4c", 128, 128, 256, 24, 64, 64), inception("4d", 112, 144, 288, 32, 64, 64),
        inception("4e", 256, 160, 320, 32, 128, 128), pool(2, 2, rounding=ceil),
        inception("5a", 256, 160, 320, 32, 128, 128), inception("5b", 384, 192, 384, 48, 128, 128),
        global_average, linear("fc", 1000))


def bn_inception():
    def unit(name, features, kernel, stride=1):
        return chain(conv(name, features, kernel, stride, bias=True), norm(f"{name}_bn"))

    def inception(name, one, reduce3, three, reduce_double, double, projection):
        """A block without a 1x1 branch halves the size and pools without projection."""
        name, stride = f"inception_{name}", 1 if one else 2
        return fork(
            *([unit(f"{name}_1x1", one, 1)] if one else []),
            chain(unit(f"{name}_3x3_reduce", reduce3, 1), unit(f"{name}_3x3", three, 3, stride)),
            chain(unit(f"{name}_double_3x3_reduce", reduce_double, 1),
                  unit(f"{name}_double_3x3_1", double, 3), unit(f"{name}_double_3x3_2", double, 3, stride)),
            unit(f"{name}_pool_proj", projection, 1) if projection else pool(3, 2, rounding=ceil))
    return chain(
        unit("conv1_7x7_s2", 64, 7, stride=2), pool(3, 2, rounding=ceil),
        unit("conv2_3x3_reduce", 64, 1), unit("conv2_3x3", 192, 3), pool(3, 2, rounding=ceil),
        inception("3a", 64, 64, 64, 64, 96, 32), inception("3b", 64, 64, 96, 64, 96, 64),
        inception("3c", 0, 128, 160, 64, 96, 0), inception("4a", 224, 64, 96, 96, 128, 128),
        inception("4b", 192, 96, 128, 96, 128, 128), inception("4c", 160, 128, 160, 128, 160, 128),
        inception("4d", 96, 128, 192, 160, 192, 128), inception("4e", 0, 128, 192, 192, 256, 0),
        inception("5a", 352, 192, 320, 160, 224, 128), inception("5b", 352, 192, 320, 192, 224, 128),
        global_average, linear("last_linear", 1000))


def inception_v3():
    path = partial(units, first=1)

    def block_a(projection):
        return fork(path("branch1x1", (64, 1)), path("branch5x5_{}", (48, 1), (64, 5)),
                    path("branch3x3dbl_{}", (64, 1), (96, 3), (96, 3)), path("branch_pool", (projection, 1)))

    def block_c(n):
        return fork(path("branch1x1", (192, 1)), path("branch7x7_{}", (n, 1), (n, (1, 7)), (192, (7, 1))),
                    path("branch7x7dbl_{}", (n, 1), (n, (7, 1)), (n, (1, 7)), (n, (7, 1)), (192, (1, 7))),
                    path("branch_pool", (192, 1)))
    reduction_b = fork(path("branch3x3", (384, 3, 2)),
                       path("branch3x3dbl_{}", (64, 1), (96, 3), (96, 3, 2)), pool(3, 2))
    reduction_d = fork(path("branch3x3_{}", (192, 1), (320, 3, 2)),
                       path("branch7x7x3_{}", (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2)), pool(3, 2))
    block_e = fork(path("branch1x1", (320, 1)), chain(path("branch3x3_1", (384, 1)), crossed("branch3x3_2", 384)),
                   chain(path("branch3x3dbl_{}", (448, 1), (384, 3)), crossed("branch3x3dbl_3", 384)),
                   path("branch_pool", (192, 1)))
    blocks = {"5b": block_a(32), "5c": block_a(64), "5d": block_a(64), "6a": reduction_b,
              "6b": block_c(128), "6c": block_c(160), "6d": block_c(160), "6e": block_c(192),
              "7a": reduction_d, "7b": block_e, "7c": block_e}
    return chain(
        units("Conv2d_1a_3x3", (32, 3, 2)), units("Conv2d_2a_3x3", (32, 3, 1)), units("Conv2d_2b_3x3", (64, 3)),
        pool(3, 2), units("Conv2d_3b_1x1", (80, 1)), units("Conv2d_4a_3x3", (192, 3, 1)), pool(3, 2),
        *(within(f"Mixed_{name}", block) for name, block in blocks.items()), global_average, linear("fc", 1000))


def inception_v4():
    stem = [fork(pool(3, 2), units("conv", (96, 3, 2))),
            fork(units("branch0.{}", (64, 1), (96, 3, 1)),
                 units("branch1.{}", (64, 1), (64, (1, 7)), (64, (7, 1)), (96, 3, 1))),
            fork(units("conv", (192, 3, 2)), pool(3, 2))]
    block_a = fork(units("branch0", (96, 1)), units("branch1.{}", (64, 1), (96, 3)),
                   units("branch2.{}", (64, 1), (96, 3), (96, 3)), units("branch3.1", (96, 1)))
    reduction_a = fork(units("branch0", (384, 3, 2)), units("branch1.{}", (192, 1), (224, 3), (256, 3, 2)), pool(3, 2))
    block_b = fork(units("branch0", (384, 1)), units("branch1.{}", (192, 1), (224, (1, 7)), (256, (7, 1))),
                   units("branch2.{}", (192, 1), (192, (7, 1)), (224, (1, 7)), (224, (7, 1)), (256, (1, 7))),
                   units("branch3.1", (128, 1)))
    reduction_b = fork(units("branch0.{}", (192, 1), (192, 3, 2)),
                       units("branch1.{}", (256, 1), (256, (1, 7)), (320, (7, 1)), (320, 3, 2)), pool(3, 2))
    block_c = fork(units("branch0", (256, 1)), chain(units("branch1_0", (384, 1)), crossed("branch1_1", 256)),
                   chain(units("branch2_{}", (384, 1), (448, (3, 1)), (512, (1, 3))), crossed("branch2_3", 256)),
                   units("branch3.1", (256, 1)))
    blocks = [*stem, *[block_a] * 4, reduction_a, *[block_b] * 7, reduction_b, *[block_c] * 3]
    return chain(
        within("features", units("{}", (32, 3, 2), (32, 3, 1), (64, 3)),
               *(within(str(index), block) for index, block in enumerate(blocks, 3))),
        global_average, linear("last_linear", 1000))


def lstm_language_model(vocabulary, hidden):
    return chain(embedding("word_embeddings", vocabulary, hidden),
                 lstm("lstm", 0, hidden), lstm("lstm", 1, hidden), linear("sm_fc", vocabulary))


def deepspeech2(hidden, layers, labels):
    def recurrent(index):
        normalised = [within("batch_norm", norm("module"))] if index else []
        return within(f"rnns.{index}", *normalised, gru("rnn", hidden))
    frequencies_to_features = reshape(lambda shape: (shape[1], shape[0] * shape[2]))
    return chain(within("conv.seq_module", conv("0", 32, (41, 11), stride=(2, 2), bias=True), norm("1"),
                        conv("3", 32, (21, 11), stride=(2, 1), bias=True), norm("4")),
                 frequencies_to_features, *map(recurrent, range(layers)),
                 within("fc.0.module", norm("0"), conv("1", labels, 1, linear=True)))


def yolov3(classes):
    """Darknet-53, then five convolutions and an output of three boxes at each of three scales."""
    count = iter(range(75))

    def unit(features, kernel, stride=1):
        return within(f"convs.{next(count)}", conv("conv", features, kernel, stride), norm("norm"))

    def stage(features, blocks):
        return chain(unit(features, 3, 2),
                     *(add(identity, chain(unit(features // 2, 1), unit(features, 3))) for _ in range(blocks)))

    def scale(features, name):
        neck = chain(*(unit(features * (1 + index % 2), 1 + 2 * (index % 2)) for index in range(5)))
        return neck, chain(unit(2 * features, 3), conv(name, 3 * (classes + 5), 1, bias=True))
    start = chain(unit(32, 3), stage(64, 1), stage(128, 2), stage(256, 8))
    middle, deep = stage(512, 8), stage(1024, 4)
    large, large_out = scale(512, "output.0")
    up_middle = unit(256, 1)
    medium, medium_out = scale(256, "output.1")
    up_start = unit(128, 1)
    small, small_out = scale(128, "output.2")
    doubled = reshape(lambda shape: (2 * shape[0], 2 * shape[1], shape[2]))

    def layer(shape):
        fine, rows = start(shape)
        mid, more = middle(fine)
        coarse, much = deep(mid)
        rows += more + much
        for before, into, out, up in ((None, large, large_out, up_middle), (mid, medium, medium_out, up_start),
                                      (fine, small, small_out, None)):
            if before:
                coarse = (*before[:2], coarse[2] + before[2])
            coarse, more = into(coarse)
            rows += more + out(coarse)[1]
            if up:
                coarse, more = chain(up, doubled)(coarse)
                rows += more
        return coarse, rows
    return layer


def bert_encoder(blocks, width):
    attend_by_heads = partial(attention, heads=width // 64, dropout=True)

    def block(index):
        qkv = within("attention.self", fork(linear("query", width), linear("key", width), linear("value", width)))
        attend = chain(saved, qkv, attend_by_heads, saved, dropped(linear("attention.output.dense", width)))
        mlp = feed_forward(linear("intermediate.dense", 4 * width), dropped(linear("output.dense", width)))
        return within(f"encoder.layer.{index}", add(identity, attend), saved, norm("attention.output.LayerNorm"),
                      add(identity, mlp), saved, norm("output.LayerNorm"))
    embeddings = add(embedding("word_embeddings", 30_522, width), embedding("position_embeddings", 512, width),
                     embedding("token_type_embeddings", 2, width))
    return chain(within("embeddings", embeddings, saved, dropped(norm("LayerNorm"))), *map(block, range(blocks)))


def bert(blocks, width, predictions=None):
    """Predicts all tokens, or only `predictions` masked ones."""
    def tied_decoder(shape):
        """A product with the word embedding, whose gradient is complete only at the end of backward; the bias is its own."""
        return (*shape[:-1], 30_522), [Row("bias", (30_522,), 2 * prod(shape) * 30_522, kept=logits(shape, 30_522))]

    def heads(shape):
        pooled, pooler = chain(first_token, linear("pooler.dense", width))(shape)
        masked = (predictions or shape[0], width)
        _, prediction = within("cls.predictions", saved, linear("transform.dense", width), saved, saved,
                               norm("transform.LayerNorm"), saved, tied_decoder)(masked)
        answer, relationship = linear("cls.seq_relationship", 2)(pooled)
        return answer, pooler + prediction + relationship
    return chain(bert_encoder(blocks, width), heads)


def logits(shape, vocabulary):
    """Bytes that cross-entropy keeps, in fp32."""
    return 4 * prod(shape[:-1]) * vocabulary


def tied_head(vocabulary):
    """A product with the word embedding, whose parameters count where forward first uses them."""
    return lambda shape: ((*shape[:-1], vocabulary), [
        Row("head", (), 2 * prod(shape) * vocabulary, kept=2 * prod(shape) + logits(shape, vocabulary))])


def gpt2(blocks, width, vocabulary, heads, positions=1024):
    attend_by_heads = partial(attention, heads=heads, dropout=True)

    def block(index):
        attend = chain(saved, norm("ln_1"), saved, linear("attn.c_attn", 3 * width), attend_by_heads,
                       saved, dropped(linear("attn.c_proj", width)))
        mlp = chain(saved, norm("ln_2"),
                    feed_forward(linear("mlp.c_fc", 4 * width), dropped(linear("mlp.c_proj", width))))
        return within(f"h.{index}", add(identity, attend), add(identity, mlp))
    embeddings = add(embedding("wte", vocabulary, width), dropped(embedding("wpe", positions, width)))
    return chain(embeddings, *map(block, range(blocks)), saved, norm("ln_f"), tied_head(vocabulary))


def gpt_neo(blocks, width, vocabulary, heads):
    """As GPT-2, but with separate query, key and value without bias, and without dropout; every second block looks back
    only 256 tokens."""
    def block(index):
        project = partial(conv, kernel=1, linear=True)
        qkv = fork(*(project(f"{name}_proj", width) for name in "kvq"))
        attend = within("attn.attention", saved, qkv, partial(attention, heads=heads), saved, linear("out_proj", width))
        mlp = chain(saved, norm("ln_2"),
                    within("mlp", feed_forward(linear("c_fc", 4 * width), linear("c_proj", width))))
        return within(f"h.{index}", add(identity, chain(saved, norm("ln_1"), attend)), add(identity, mlp))
    return chain(add(embedding("wte", vocabulary, width), embedding("wpe", 2048, width)),
                 *map(block, range(blocks)), saved, norm("ln_f"), tied_head(vocabulary))


def mpt(blocks, width):
    """As GPT-2, with llm-foundry's names, a rounded-up vocabulary, FlashAttention and no dropout."""
    def block(index):
        attend = chain(saved, norm("norm_1"), within("attn", saved, linear("Wqkv", 3 * width), attention, saved,
                                                     linear("out_proj", width)))
        mlp = chain(saved, norm("norm_2"),
                    within("ffn", feed_forward(linear("up_proj", 4 * width), linear("down_proj", width))))
        return within(f"blocks.{index}", add(identity, attend), add(identity, mlp))
    return within("transformer", add(embedding("wte", 50_368, width), embedding("wpe", 2048, width)),
                  *map(block, range(blocks)), saved, norm("norm_f"), tied_head(50_368))


def llama(blocks, width, key_value_width, feed_forward, vocabulary):
    """Attention stores no scores, as FlashAttention."""
    project = partial(conv, kernel=1, linear=True)

    def block(index):
        qkv = fork(project("q_proj", width), project("k_proj", key_value_width), project("v_proj", key_value_width))
        attend = within("self_attn", saved, qkv, partial(attention, width=width), saved, project("o_proj", width))
        # Gate and up are multiplied, with the shape of a sum. SiLU keeps its input, the product both factors.
        mlp = within("mlp", saved, add(project("gate_proj", feed_forward), project("up_proj", feed_forward)),
                     saved, saved, saved, saved, project("down_proj", width))
        return within(f"layers.{index}", add(identity, chain(saved, rms_norm("input_layernorm"), attend)),
                      add(identity, chain(saved, rms_norm("post_attention_layernorm"), mlp)))

    def head(shape):
        out, rows = project("lm_head", vocabulary)(shape)
        return out, [rows[0]._replace(kept=2 * prod(shape) + logits(shape, vocabulary))]
    return chain(within("model", embedding("embed_tokens", vocabulary, width), *map(block, range(blocks)),
                        saved, rms_norm("norm")), head)


# The files ---------------------------------------------------------------------------------------------------------

IMAGE, LARGE_IMAGE, CIFAR = (224, 224, 3), (299, 299, 3), (32, 32, 3)
VGG_CLASSIFIER = chain(linear("classifier.0", 4096), linear("classifier.3", 4096), linear("classifier.6", 1000))
TORCHVISION, CADENE, GTOPK = "torchvision", "Cadene/pretrained-models.pytorch", "hclhkbu/gtopkssgd"
BERT_MODEL = "BertForPreTraining of Hugging Face transformers, names without bert."
GPT2_MODEL = "GPT2LMHeadModel of Hugging Face transformers"
VGG = "Simonyan and Zisserman 2014, Very Deep Convolutional Networks for Large-Scale Image Recognition"
RESNET, BERT = "He et al. 2015, Deep Residual Learning for Image Recognition", "Devlin et al. 2018, BERT"
PREACTIVATED = "He et al. 2016, Identity Mappings in Deep Residual Networks"
SHAKE_SHAKE = "Gastaldi 2017, Shake-Shake regularization"
POLLUX = "petuum/adaptdl, benchmark/models of siasosp23/artifacts"
T2T = "tensorflow/tensor2tensor v1.10.0; the total is that of cake-lab/CM-DARE"
T2T_RESNET = "16, 32, 64 and 128 features, a 7x7 convolution first; hparams resnet_cifar_15 and resnet_cifar_32"
STRIDE = "stride 2 is in the 3x3 convolution of a block"
HEADS = ("BertModel has the last 7 tensors less; the decoder is tied to the word embedding, predicts every token, and "
         "has its flop on cls.predictions.bias; those of the attention products are on attention.output.dense.weight "
         "of their block")
TIED = ("the head is tied to wte and its flop are on the last row, ln_f.bias; the flop of the attention products, "
        "not halved for the causal mask, are on attn.c_proj.weight of their block")
INTELLECT = ("the report prints 10B; the total is the sum of Llama-3's tensors with 42 blocks, whose dimensions are "
             "remembered; head not tied; the flop of the attention products, not halved for the causal mask, are on "
             "self_attn.o_proj.weight of their block; attention keeps no scores")
LLAMA_MODEL = "LlamaForCausalLM of Hugging Face transformers"
LLAMA = ("head not tied; the flop of the attention products, not halved for the causal mask, are on "
         "self_attn.o_proj.weight of their block; attention keeps no scores")
LLAMA_2 = "Touvron et al. 2023, Llama 2 (arXiv 2307.09288)"
LLAMA_3 = "Grattafiori et al. 2024, The Llama 3 Herd of Models (arXiv 2407.21783)"
GPT_3 = ("Brown et al. 2020, Language Models are Few-Shot Learners, GPT-3 XL: its table prints 1.3 B, 24 layers of "
         "2048 and 24 heads of 128, which are 3072: 16 are meant (heads change neither parameters nor flop, "
         "only activations)")
MPT = "MosaicML LLM Foundry, scripts/train/yamls/pretrain and benchmarking/README.md, which has the total"
MPT_MODEL = "MPTForCausalLM of llm-foundry, names without model."
MPT_TIED = ("learned positions and biases, as the benchmark's; the head is tied to wte and its flop are on the last "
            "row, transformer.norm_f.bias; the flop of the attention products, not halved for the causal mask, are on "
            "attn.out_proj.weight of their block; FlashAttention keeps no scores")

# Totals are published for the implementation; `csv` refuses any other sum.
NETWORKS = [
    Network("alexnet", IMAGE, alexnet(), 61_100_840,
            "Krizhevsky 2014, One weird trick for parallelizing convolutional neural networks", TORCHVISION),
    Network("vgg16", IMAGE, vgg([2, 2, 3, 3, 3], VGG_CLASSIFIER), 138_357_544, VGG, TORCHVISION),
    Network("vgg19", IMAGE, vgg([2, 2, 4, 4, 4], VGG_CLASSIFIER), 143_667_240, VGG, TORCHVISION),
    Network("vgg16-cifar10", CIFAR, vgg([2, 2, 3, 3, 3], linear("fc", 10), batch_norm=True), 14_728_266, VGG, GTOPK,
            "convolutions with bias and batch normalisation, then one linear layer from 512 to 10"),
    Network("resnet20", CIFAR, resnet_cifar([3, 3, 3]), 269_722, RESNET, GTOPK,
            "option A shortcuts, without parameters (option B has 272474 in all); tensors named as by torchvision"),
    Network("resnet32", CIFAR, resnet_cifar([5, 5, 5]), 464_154, RESNET, "microsoft/Multiverso, docs/BENCHMARK.md",
            "option A shortcuts, without parameters; tensors named as by torchvision"),
    Network("resnet15-t2t", CIFAR, preactivated_resnet_cifar([2, 2, 2]), 693_818, PREACTIVATED, T2T, T2T_RESNET),
    Network("resnet32-t2t", CIFAR, preactivated_resnet_cifar([5, 5, 5]), 1_857_722, PREACTIVATED, T2T, T2T_RESNET),
    Network("shake-shake-small", CIFAR, shake_shake(32), 2_926_986, SHAKE_SHAKE, T2T, "26 layers, 2x32d"),
    Network("shake-shake-big", CIFAR, shake_shake(96), 26_204_362, SHAKE_SHAKE, T2T, "26 layers, 2x96d"),
    Network("resnet18-cifar10", CIFAR, resnet18_cifar(), 11_173_962, RESNET, "kuangliu/pytorch-cifar",
            "the ImageNet network's widths on 32x32 images, option B shortcuts"),
    Network("resnet50", IMAGE, resnet([3, 4, 6, 3]), 25_557_032, RESNET, TORCHVISION, STRIDE),
    Network("resnet101", IMAGE, resnet([3, 4, 23, 3]), 44_549_160, RESNET, TORCHVISION, STRIDE),
    Network("resnet152", IMAGE, resnet([3, 8, 36, 3]), 60_192_808, RESNET, TORCHVISION, STRIDE),
    Network("googlenet", IMAGE, googlenet(), 6_624_904,
            "Szegedy et al. 2014, Going Deeper with Convolutions", TORCHVISION,
            "batch normalisation, 3x3 convolutions for the paper's 5x5, no auxiliary classifiers"),
    Network("bn-inception", IMAGE, bn_inception(), 11_295_240,
            "Ioffe and Szegedy 2015, Batch Normalization", CADENE, "convolutions have a bias"),
    Network("inception-v3", LARGE_IMAGE, inception_v3(), 23_834_568,
            "Szegedy et al. 2015, Rethinking the Inception Architecture for Computer Vision", TORCHVISION,
            "no auxiliary classifier (with it 27161264 parameters)"),
    Network("inception-v4", LARGE_IMAGE, inception_v4(), 42_679_816,
            "Szegedy et al. 2016, Inception-v4, Inception-ResNet and the Impact of Residual Connections", CADENE),
    Network("lstm-ptb", (35,), lstm_language_model(10_000, 1500), 66_034_000,
            "Zaremba et al. 2014, Recurrent Neural Network Regularization (large model)", GTOPK,
            "decoder not tied to the embedding; PyTorch has two biases per gate (with one 66022000 parameters)"),
    Network("bert-base", (64,), bert(12, 768), 110_106_428, BERT, BERT_MODEL, HEADS),
    Network("bert-large", (64,), bert(24, 1024), 336_226_108, BERT, BERT_MODEL, HEADS),
    *(Network(f"bert-large-{tokens}", (tokens,), bert(24, 1024, predictions), 336_226_108, BERT, BERT_MODEL,
              HEADS.replace("predicts every token", f"predicts {predictions} masked tokens"))
      for tokens, predictions in [(128, 20), (512, 80)]),
    Network("bert-base-squad", (384,), chain(bert_encoder(12, 768), linear("qa_outputs", 2)), 108_893_186, BERT,
            "BertForQuestionAnswering of Hugging Face transformers, names without bert.",
            "no pooler; the flop of the attention products are on attention.output.dense.weight of their block"),
    Network("yolov3-voc", (448, 448, 3), yolov3(20), 61_626_049,
            "Redmon and Farhadi 2018, YOLOv3: An Incremental Improvement", POLLUX,
            "20 classes; with the 80 of COCO 61949149 parameters; tensors named by the order of convolutions"),
    Network("deepspeech2", (161, 400, 1), deepspeech2(800, 5, 29), 41_187_968,
            "Amodei et al. 2015, Deep Speech 2", f"SeanNaren/deepspeech.pytorch; {POLLUX}",
            "5 bidirectional GRU layers of 800, whose directions are added; no total is published: it is the sum; "
            "the sample is 4 s"),
    Network("gpt2", (1024,), gpt2(12, 768, 50_257, heads=12), 124_439_808,
            "Radford et al. 2019, Language Models are Unsupervised Multitask Learners", GPT2_MODEL, TIED),
    Network("llama-10b", (8192,), llama(42, 4096, 1024, 14_336, 128_256), 10_211_381_248,
            "Jaghouar et al. 2024, INTELLECT-1 Technical Report (arXiv 2412.01152)", LLAMA_MODEL, INTELLECT),
    Network("gpt-1.3b", (2048,), gpt2(24, 2048, 50_257, heads=16, positions=2048), 1_315_723_264, GPT_3, GPT2_MODEL,
            TIED),
    Network("gpt-neo-125m", (1024,), gpt_neo(12, 768, 50_257, heads=12), 125_198_592,
            "Black et al. 2021, GPT-Neo (EleutherAI/gpt-neo-125M)", "GPTNeoForCausalLM of Hugging Face transformers",
            "the head is tied to wte and its flop are on the last row, ln_f.bias; the flop of the attention products, "
            "as if no block were local, are on attn.attention.out_proj.weight of their block"),
    *(Network(f"mpt-{size}", (2048,), mpt(blocks, width), total, MPT, MPT_MODEL, MPT_TIED)
      for size, blocks, width, total in [
          ("125m", 12, 768, 125_311_488), ("350m", 24, 1024, 355_985_408), ("760m", 24, 1536, 760_470_528),
          ("1b", 24, 2048, 1_315_950_592), ("3b", 32, 2560, 2_651_837_440), ("7b", 32, 4096, 6_658_859_008),
          ("13b", 40, 5120, 12_853_954_560), ("30b", 48, 7168, 29_975_214_080), ("70b", 80, 8192, 64_862_437_376)]),
    *(Network(f"llama-2-{size}", (4096,), llama(blocks, width, key_value_width, feed_forward, 32_000), total,
              LLAMA_2, LLAMA_MODEL, LLAMA)
      for size, blocks, width, key_value_width, feed_forward, total in [
          ("7b", 32, 4096, 4096, 11_008, 6_738_415_616), ("13b", 40, 5120, 5120, 13_824, 13_015_864_320),
          ("34b", 48, 8192, 1024, 22_016, 33_743_970_304), ("70b", 80, 8192, 1024, 28_672, 68_976_648_192)]),
    *(Network(f"llama-3-{size}", (8192,), llama(blocks, width, 1024, feed_forward, 128_256), total,
              LLAMA_3, LLAMA_MODEL, LLAMA)
      for size, blocks, width, feed_forward, total in [
          ("8b", 32, 4096, 14_336, 8_030_261_248), ("70b", 80, 8192, 28_672, 70_553_706_496),
          ("405b", 126, 16_384, 53_248, 405_853_388_800)]),
]


def tensors(network):
    """One row per gradient tensor. Work without a tensor goes to the next one, at the end to the last one."""
    rows, carried = [], Row("", (), 0)
    for row in network.layers(network.shape)[1]:
        carried = Row(row.tensor, row.shape, *map(sum, zip(carried[2:], row[2:])))
        if row.parameters:
            rows.append(carried)
            carried = Row("", (), 0)
    assert carried.attention == 0, f"{network.name}: no tensor after the last attention"
    rows[-1] = Row(*rows[-1][:2], *map(sum, zip(rows[-1][2:], carried[2:])))
    return rows


def csv(network):
    rows = tensors(network)
    names = [row.tensor for row in rows]
    total = sum(row.parameters for row in rows)
    assert total == network.parameters, f"{network.name}: {total} parameters, published {network.parameters}"
    assert len(set(names)) == len(names), f"{network.name}: two tensors with the same name"
    length, *image = network.shape
    kind = "spectrogram" if image and image[-1] == 1 else "image"
    sample = f"{length}x{image[0]} {kind}" if image else f"sequence of {length} tokens"
    header = {"model": network.name, "sample": sample, "parameters": total, "flop": sum(row.flop for row in rows),
              "source": f"{network.paper}; counted as in {network.implementation}", "note": network.note}
    attends = any(row.attention for row in rows)
    columns = ["layer", "parameters", "forward_flop", "attention_flop", "activation_bytes", "attention_bytes"]
    columns = columns[:3 + 3 * attends]
    numbers = [[row.tensor, row.parameters, *row[2:]][:len(columns)] for row in rows]
    return "\n".join([*(f"# {key}: {value}" for key, value in header.items() if value), ",".join([*columns, "shape"]),
                      *(",".join(map(str, [*row, "x".join(map(str, of.shape))])) for row, of in zip(numbers, rows)), ""])


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    stale = 0
    for network in NETWORKS:
        path, text = Path(__file__).with_name(f"{network.name}.csv"), csv(network).encode()
        if not arguments:
            path.write_bytes(text)
        elif not path.exists() or path.read_bytes() != text:
            print(f"{path.name} differs from what generate.py writes", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        try:
            print(f"generate.py: {type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
        finally:
            os._exit(2)  # without the flush at exit, which would fail again
    sys.exit(code)
