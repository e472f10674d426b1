#!/usr/bin/env python3
"""Writes a model CSV (README.md) of any nn.Module of PyTorch: gradient tensors in forward order, and their operations.

    from_torch.py FILE.py:FUNCTION --input 3x224x224       > mine.csv
    from_torch.py PACKAGE.MODULE:FUNCTION --input 512:int   > mine.csv

FUNCTION gives the module without arguments (a class does, too); the input is that of one sample, `:int` for tokens.
The module runs forward once. Operations are two for each multiply-add of convolutions, linear and recurrent layers and
attention; normalisation, embedding and what works element by element count 0, as in this folder's models. Products
outside such layers (torch.matmul, bmm, baddbmm, scaled_dot_product_attention) count on the next tensor; those of two
computed values are attention_flop. What autograd saves for backward is activation_bytes, two for a floating value; of
these, tensors of such a product's shape of pairs of tokens are attention_bytes. Dropout is off. What it does not know
is said on stderr.

    from_torch.py FILE.py:FUNCTION --input 3x224x224 --measure 32 > mine.json

trains with 32 samples instead, on the first GPU where there is one, and writes the seconds of forward and those from
gradient to gradient of backward: a Chakra trace of one iteration, which is a model too. The loss is the sum of the
outputs; the optimizer's step is not measured.
"""

import importlib
import importlib.util
import json
import sys
import time
from math import prod
from pathlib import Path
from statistics import median


def refuse(what):
    print(f"from_torch.py: {what}", file=sys.stderr)
    sys.exit(2)


class Counter:
    """Rows by tensor in the order of their first use; work that owns no tensor waits for the next one."""

    def __init__(self, model):
        self.names = {id(tensor): name for name, tensor in model.named_parameters() if tensor.requires_grad}
        self.tensors = {id(tensor): tensor for tensor in model.parameters()}
        self.rows, self.carried = {}, [0, 0, 0, 0]  # flop, of attention; bytes, of attention
        self.inside, self.unknown = 0, {}
        self.owned = {storage_of(tensor) for tensor in [*model.parameters(), *model.buffers()]}
        self.pairs = set()  # shapes of scores

    def add(self, tensor, flop=0, attention=0):
        """A tensor used with so much work, which waits too if its gradient is not new here: tied, or frozen."""
        self.carry(flop, attention)
        if id(tensor) in self.names and id(tensor) not in self.rows:
            self.rows[id(tensor)] = self.carried
            self.carried = [0, 0, 0, 0]

    def carry(self, flop, attention=0, kept=0, of_attention=0):
        self.carried = [sum(pair) for pair in zip(self.carried, (flop, attention, kept, of_attention))]

    def multiplied(self, left, result):
        """A product of two computed values: scores, unless its left factor is made of scores."""
        if tuple(left.shape[-2:]) not in self.pairs:
            self.pairs.add(tuple(result.shape[-2:]))

    def keep(self, tensor):
        """Called with each tensor that autograd saves: a storage counts once."""
        storage = storage_of(tensor)
        if storage not in self.owned:
            self.owned.add(storage)
            size = storage_bytes(tensor) * (2 if tensor.is_floating_point() else tensor.element_size())
            kept = size // tensor.element_size()
            self.carry(0, 0, kept, kept if tuple(tensor.shape[-2:]) in self.pairs else 0)
        return tensor


def storage_of(tensor):
    return (tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()).data_ptr()


def storage_bytes(tensor):
    return (tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()).nbytes()


def leaf_work(torch, module, inputs=0, features=1, outputs=0):
    """Operations by the name of a tensor, of a layer that reads and makes so many values; None: a layer not known."""
    nn = torch.nn
    if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        return {"weight": 2 * module.weight.numel() * outputs // module.out_channels}
    if isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)):
        return {"weight": 2 * module.weight.numel() * inputs // module.in_channels}
    if isinstance(module, nn.Linear):
        return {"weight": 2 * module.weight.numel() * outputs // module.out_features}
    if isinstance(module, nn.RNNBase):
        return {name: 2 * inputs // features * tensor.numel()
                for name, tensor in module.named_parameters(recurse=False) if tensor.dim() > 1}
    norms = [getattr(nn, name) for name in ("LayerNorm", "GroupNorm", "RMSNorm") if hasattr(nn, name)]
    free = nn.modules.batchnorm._NormBase, nn.Embedding, nn.EmbeddingBag, nn.PReLU, *norms
    return {} if isinstance(module, free) else None


def is_attention(torch, module):
    return isinstance(module, torch.nn.MultiheadAttention)


def lengths(module, inputs):
    """Samples, and tokens of query and key, of a MultiheadAttention."""
    query, key = inputs[0], inputs[1 if len(inputs) > 1 else 0]
    if query.dim() == 2:
        return 1, query.shape[0], key.shape[0]
    batch, length = (0, 1) if module.batch_first else (1, 0)
    return query.shape[batch], query.shape[length], key.shape[length]


def add_attention(counter, module, inputs):
    """Projections of query, key and value, products of pairs of tokens, and the projection of what they give."""
    samples, tokens, keys = lengths(module, inputs)
    pairs = 4 * samples * tokens * keys * module.embed_dim
    projections = [("q_proj_weight", tokens), ("k_proj_weight", keys), ("v_proj_weight", keys)]
    if module.in_proj_weight is not None:
        third = module.in_proj_weight.numel() // 3
        counter.add(module.in_proj_weight, 2 * third * samples * (tokens + 2 * keys))
    else:
        for name, count in projections:
            weight = getattr(module, name)
            counter.add(weight, 2 * weight.numel() * samples * count)
    for tensor in (module.in_proj_bias, module.bias_k, module.bias_v):
        if tensor is not None:
            counter.add(tensor)
    out = module.out_proj
    counter.add(out.weight, 2 * out.weight.numel() * samples * tokens + pairs, pairs)
    if out.bias is not None:
        counter.add(out.bias)


def products(torch, counter):
    """Counts products that no known layer does."""
    functional = torch.nn.functional
    fused = getattr(functional, "scaled_dot_product_attention", None)
    names = {torch.matmul, torch.bmm, torch.mm, torch.Tensor.matmul, torch.Tensor.__matmul__, torch.Tensor.bmm,
             torch.Tensor.mm}
    with_sum = {torch.baddbmm, torch.addmm, torch.Tensor.baddbmm, torch.Tensor.addmm}

    class Products(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if counter.inside:
                return result
            if fused is not None and function is fused:
                query, key, value = args[:3]
                flop = 2 * prod(query.shape[:-1]) * key.shape[-2] * (query.shape[-1] + value.shape[-1])
                counter.carry(flop, flop)
            elif function in names or function in with_sum:
                left, right = args[1:3] if function in with_sum else args[:2]
                flop = 2 * result.numel() * left.shape[-1]
                of_weights = any(id(tensor) in counter.tensors for tensor in (left, right))
                if not of_weights:
                    counter.multiplied(left, result)
                counter.carry(flop, 0 if of_weights else flop)
            elif function in (torch.einsum, functional.linear, functional.conv2d):
                counter.unknown.setdefault(function.__name__ + " outside a layer", 0)
            return result
    return Products()


def watch(torch, model, counter):
    """Hooks on every module that owns tensors: before and after its forward."""
    def before(module, inputs):
        counter.inside += 1
        if inputs and is_attention(torch, module):
            counter.pairs.add(lengths(module, inputs)[1:])

    def after(module, inputs, output):
        counter.inside -= 1
        if not inputs:
            refuse(f"a {type(module).__name__} is called by keyword: allowed is by position")
        if is_attention(torch, module):
            add_attention(counter, module, inputs)
            return
        values = inputs[0].data  # of a packed sequence too
        work = leaf_work(torch, module, values.numel(), values.shape[-1], getattr(output, "numel", int)())
        for name, tensor in module.named_parameters(recurse=False):
            counter.add(tensor, work.get(name, 0))

    def before_unknown(module, inputs):
        own = list(module.parameters(recurse=False))
        kind = type(module).__name__
        counter.unknown[kind] = counter.unknown.get(kind, 0) + sum(tensor.numel() for tensor in own)
        for tensor in own:
            counter.add(tensor)

    projections = {id(module.out_proj) for module in model.modules() if is_attention(torch, module)}
    for module in model.modules():
        if not list(module.parameters(recurse=False)) or id(module) in projections:
            continue
        if is_attention(torch, module) or leaf_work(torch, module) is not None:
            module.register_forward_pre_hook(before)
            module.register_forward_hook(after)
        else:
            module.register_forward_pre_hook(before_unknown)


def count(torch, model, sample):
    counter = Counter(model)
    watch(torch, model, counter)
    model.eval()  # one sample has no statistics for a batch normalisation to learn
    try:
        with torch.autograd.graph.saved_tensors_hooks(counter.keep, lambda tensor: tensor), products(torch, counter):
            # with gradients: without, a transformer layer takes a way round its parts
            kept = model(sample)  # and the graph that it ends
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        refuse(f"its forward fails with this input: {str(error).splitlines()[0]}")
    if not counter.rows:
        refuse("no tensor with a gradient is used in its forward pass")
    del kept
    last = next(reversed(counter.rows))
    counter.rows[last] = [sum(pair) for pair in zip(counter.rows[last], counter.carried)]
    return counter


def load(torch, spec):
    place, colon, name = spec.rpartition(":")
    if not colon or not name:
        refuse(f"'{spec}': allowed is FILE.py:FUNCTION or PACKAGE.MODULE:FUNCTION")
    try:
        if place.endswith(".py"):
            found = importlib.util.spec_from_file_location(Path(place).stem, place)
            module = importlib.util.module_from_spec(found)
            found.loader.exec_module(module)
        else:
            module = importlib.import_module(place)
    except (ImportError, OSError) as error:
        refuse(f"{place}: {error}")
    if not hasattr(module, name):
        refuse(f"{place}: no '{name}' in it")
    model = getattr(module, name)()
    if not isinstance(model, torch.nn.Module):
        refuse(f"{spec}: gives {type(model).__name__}; allowed is an nn.Module")
    return model


def sample_of(torch, word):
    shape, _, kind = word.partition(":")
    sizes = shape.split("x")
    if not all(size.isdigit() and int(size) > 0 for size in sizes) or kind not in ("", "int"):
        refuse(f"--input '{word}': allowed are sizes such as 3x224x224, or 512:int for tokens")
    sizes = [1, *map(int, sizes)]
    return torch.zeros(sizes, dtype=torch.long) if kind else torch.zeros(sizes)


WARM_UP, REPEATS = 3, 11


class Clock:
    """Stamps on the processor that computes; seconds between them are known once it has finished."""

    def __init__(self, torch):
        self.torch = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"

    def stamp(self):
        if self.device == "cpu":
            return time.perf_counter()
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def seconds(self, begin, end):
        if self.device == "cpu":
            return end - begin
        end.synchronize()
        return begin.elapsed_time(end) / 1e3


def sum_of(torch, output):
    """Of all floating-point values in it, whatever it is made of."""
    if isinstance(output, torch.Tensor):
        return output.float().sum() if output.is_floating_point() else 0
    parts = output.values() if isinstance(output, dict) else output if isinstance(output, (list, tuple)) else []
    return sum(sum_of(torch, part) for part in parts)


def iterations(torch, model, sample, clock):
    """Of each, seconds of forward, and of backward until each gradient, by name in the order in which they come."""
    stamps = []
    for name, tensor in model.named_parameters():
        if tensor.requires_grad:
            tensor.register_hook(lambda gradient, name=name: stamps.append((name, clock.stamp())))
    for _ in range(WARM_UP + REPEATS):
        stamps.clear()
        model.zero_grad()
        begin = clock.stamp()
        loss = sum_of(torch, model(sample))
        forward = clock.stamp()
        loss.backward()
        yield clock.seconds(begin, forward), {name: clock.seconds(forward, at) for name, at in stamps}


def measure(torch, model, sample, samples):
    clock = Clock(torch)
    model.train()
    model.to(clock.device)
    batch = sample.expand(samples, *sample.shape[1:]).contiguous().to(clock.device)
    try:
        measured = list(iterations(torch, model, batch, clock))[WARM_UP:]
    except (RuntimeError, ValueError, TypeError, IndexError, AttributeError) as error:
        refuse(f"training fails with {samples} samples of this input: {str(error).splitlines()[0]}")
    until = {name: median(gradients[name] for _, gradients in measured) for name in measured[0][1]}
    if not until:
        refuse("no gradient in its backward pass")
    return clock.device, median(forward for forward, _ in measured), dict(sorted(until.items(), key=lambda at: at[1]))


def trace(torch, model, spec, shape, samples, device, forward, until):
    """JSON of Chakra: forward, and for each gradient what is computed before it, and its all-reduce."""
    bytes_of = {name: tensor.numel() * tensor.element_size() for name, tensor in model.named_parameters()}
    about = f"{spec}; {samples} samples of {shape} on {device}; PyTorch {torch.__version__}; from_torch.py"
    nodes = [{"attr": [{"name": "source", "stringVal": about}]},
             {"id": "0", "name": "forward", "type": "COMP_NODE", "durationMicros": str(round(forward * 1e6))}]
    done = 0
    for name, seconds in until.items():
        computes, sends, micros = len(nodes) - 1, len(nodes), round(seconds * 1e6)
        nodes += [{"id": str(computes), "name": f"backward {len(nodes) // 2}", "type": "COMP_NODE",
                   "dataDeps": [str(max(computes - 2, 0))], "durationMicros": str(micros - done)},
                  {"id": str(sends), "name": name, "type": "COMM_COLL_NODE", "dataDeps": [str(computes)],
                   "attr": [{"name": "comm_type", "int64Val": "0"},
                            {"name": "comm_size", "int64Val": str(bytes_of[name])}]}]
        done = micros
    return "\n".join(json.dumps(node) for node in nodes)


def csv(torch, spec, shape, counter):
    rows = [(counter.names[key].replace(",", ";"), counter.tensors[key].numel(), *work)
            for key, work in counter.rows.items()]
    columns = ["layer", "parameters", "forward_flop", "attention_flop", "activation_bytes", "attention_bytes"]
    chosen = [i for i in range(len(columns)) if i not in (3, 5) or any(row[i] for row in rows)]
    header = {"model": spec.rpartition(":")[2], "sample": shape, "parameters": sum(row[1] for row in rows),
              "flop": sum(row[2] for row in rows), "source": f"{spec}; PyTorch {torch.__version__}; from_torch.py"}
    return "\n".join([*(f"# {key}: {value}" for key, value in header.items()),
                      *(",".join(str(row[i]) for i in chosen) for row in [columns, *rows])])


def main(arguments):
    samples = arguments[4] if len(arguments) == 5 and arguments[3] == "--measure" else None
    if len(arguments) != (3 if samples is None else 5) or arguments[1] != "--input":
        print(__doc__, file=sys.stderr)
        return 2
    if samples is not None and not (samples.isdigit() and int(samples) > 0):
        refuse(f"--measure '{samples}': allowed are whole numbers of samples from 1")
    try:
        import torch
    except ImportError as error:
        refuse(f"PyTorch is missing ({error}): apt-get install python3-torch")
    sys.path.insert(0, ".")
    model = load(torch, arguments[0])
    if samples is not None:
        device, forward, until = measure(torch, model, sample_of(torch, arguments[2]), int(samples))
        print(trace(torch, model, arguments[0], arguments[2], samples, device, forward, until))
        print(f"measured on {device}, medians of {REPEATS}: forward {forward:.4g} s, backward "
              f"{max(until.values()):.4g} s; simulate it with --batch {samples}", file=sys.stderr)
        return 0
    counter = count(torch, model, sample_of(torch, arguments[2]))
    print(csv(torch, arguments[0], arguments[2], counter))
    for kind, parameters in counter.unknown.items():
        print(f"not known: {kind}, {parameters} parameters: its tensors are counted, of its work only products",
              file=sys.stderr)
    unused = [name for key, name in counter.names.items() if key not in counter.rows]
    if unused:
        print(f"left out, as forward does not use them: {', '.join(unused)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
