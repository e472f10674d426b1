#!/usr/bin/env python3
"""Writes a model CSV (README.md) of any PyTorch nn.Module: its gradient tensors in forward order, with their operations.

    from_torch.py FILE.py:FUNCTION --input 3x224x224       > mine.csv
    from_torch.py PACKAGE.MODULE:FUNCTION --input 512:int   > mine.csv

FUNCTION takes no arguments and returns the module; a class works too. --input is the shape of one sample, with `:int` for tokens.
The module runs forward once. The script sees every call of a PyTorch function, inside a layer or not. A tensor's row stands where
a function first used it together with data that depends on the sample; autograd says which tensors get a gradient. Operations are
two for each multiply-add of convolutions, matrix products, recurrent layers and attention; normalisation, embedding and
elementwise work count 0, as in this folder's models. Products without a tensor of the model count on the next tensor, as
attention_flop. activation_bytes is what autograd saves for backward, two bytes for a floating value; attention_bytes is
the part in tensors with a shape of pairs of tokens. Dropout is off. Work that cannot be counted is reported on stderr,
where the module's own output goes too.

    from_torch.py FILE.py:FUNCTION --input 3x224x224 --measure 32 > mine.json

trains with 32 samples instead, on the first GPU if there is one, and writes the seconds of forward and between gradients
of backward as a Chakra trace of one iteration, which is also a model. The loss is the sum of the outputs; the optimizer's
step is not measured.
"""

import importlib
import importlib.util
import json
import os
import re
import sys
import time
import traceback
from pathlib import Path
from statistics import median

sys.dont_write_bytecode = True  # leaves no files beside the sources
from torch_counter import Counter, flat, functions


def printable(text):
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class Refused(SystemExit):
    pass


def refuse(what):
    sys.stdout.flush()
    print(printable(f"from_torch.py: {what}"), file=sys.stderr)
    raise Refused(2)


class OfTheUser:
    """Refuses an exception of the user's code in this block, naming the error and the user's line."""

    def __init__(self, doing):
        self.doing = doing

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind in (None, KeyboardInterrupt, Refused):
            return
        frames = [frame for frame in traceback.extract_tb(trace) if f"{os.sep}torch{os.sep}" not in frame.filename
                  and frame.filename != __file__ and not frame.filename.startswith("<")]
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        refuse(f"{self.doing}: {kind.__name__}{': ' if first else ''}{first[:500]}" + (f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""))


def reached_by(torch, outputs, seen):
    """Tensors that get a gradient: the leaves of autograd's graph."""
    outputs = [value for value in flat(outputs) if isinstance(value, torch.Tensor) and value.requires_grad]
    if not outputs:
        refuse("no output has a gradient")
    found = {id(value) for value in outputs if value.grad_fn is None}
    todo, known = [value.grad_fn for value in outputs if value.grad_fn is not None], set()
    while todo:
        node = todo.pop()
        if node not in known:
            known.add(node)
            found |= {id(node.variable)} if type(node).__name__ == "AccumulateGrad" else set()
            todo += [following for following, _ in node.next_functions if following is not None]
    if any("Checkpoint" in type(node).__name__ for node in known) and seen.keys() - found:  # a checkpoint hides a graph
        sum_of(torch, outputs).backward()
        found |= {id(tensor) for tensor in seen.values() if tensor.grad is not None}
    return found


def materialise(torch, model, sample):
    """Runs forward once if there are lazy modules, which gives them their shapes."""
    if any(map(torch.nn.parameter.is_lazy, [*model.parameters(), *model.buffers()])):
        with torch.no_grad():
            model(sample)


def count(torch, model, sample):
    model.eval()  # batch normalisation cannot take statistics of one sample
    with OfTheUser("its forward fails with this input"), torch.enable_grad():
        # with gradients: without them, a transformer layer takes a fused path around its parts
        materialise(torch, model, sample)
        counter = None
        while counter is None or {id(tensor) for tensor in model.parameters()} != set(counter.tensors):  # forward created tensors
            counter = Counter(torch, model, sample)
            with torch.autograd.graph.saved_tensors_hooks(counter.keep, lambda tensor: tensor), functions(torch, counter):
                kept = model(sample)  # keeps the autograd graph alive
        counter.follow(counter.tensors_in(kept))
        reached = reached_by(torch, kept, {key: counter.tensors[key] for key in counter.rows})
    for module in model.modules():
        own = [tensor for tensor in module.parameters(recurse=False) if id(tensor) in counter.touched]
        kinds = [kind for kind in type(module).__mro__ if kind is not torch.nn.Module]
        if own and not any(kind.__module__.startswith("torch.") for kind in kinds):
            counter.not_known(type(module).__name__, own, "but only products of its work")
    counter.finish(reached)
    if not counter.rows:
        refuse("no tensor with a gradient is used in its forward pass")
    return counter


def load(torch, spec):
    place, colon, name = spec.rpartition(":")
    if not place or not name:
        refuse(f"'{spec}': must be FILE.py:FUNCTION or PACKAGE.MODULE:FUNCTION")
    sys.path.insert(0, ".")
    sys.argv = [place]
    with OfTheUser(place):
        if place.endswith(".py"):
            if not Path(place).is_file():
                refuse(f"{place}: {'not a regular file' if Path(place).exists() else 'no such file'}")
            sys.path.insert(0, str(Path(place).resolve().parent))  # as Python does
            found = importlib.util.spec_from_file_location(Path(place).stem, place)
            module = importlib.util.module_from_spec(found)
            sys.modules.setdefault(found.name, module)
            found.loader.exec_module(module)
        else:
            module = importlib.import_module(place)
        if not hasattr(module, name):
            refuse(f"{place}: defines no '{name}'")
        model = getattr(module, name)()
    if not isinstance(model, torch.nn.Module):
        refuse(f"{spec}: returns {type(model).__name__}, not an nn.Module")
    return model


def sample_of(torch, word):
    shape, _, kind = word.partition(":")
    sizes = shape.split("x")
    if not all(re.fullmatch("[1-9][0-9]{0,8}", size) for size in sizes) or kind not in ("", "int"):
        refuse(f"--input '{word}': must be sizes such as 3x224x224, or 512:int for tokens")
    sizes = [1, *map(int, sizes)]
    return torch.zeros(sizes, dtype=torch.long) if kind else torch.zeros(sizes)


WARM_UP, REPEATS = 3, 11


class Clock:
    """Time stamps on the device that computes. Seconds between two stamps are known after the device has finished."""

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
    """The sum of all floating-point values in a nested output."""
    return sum(value.float().sum() for value in flat(output) if isinstance(value, torch.Tensor) and value.is_floating_point())


def iterations(torch, model, sample, clock):
    """Yields for each iteration the seconds of forward, and of backward until each gradient, by name in order of arrival."""
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
    with OfTheUser(f"training fails with {samples} samples of this input"), torch.enable_grad():
        model.to(clock.device)
        batch = sample.expand(samples, *sample.shape[1:]).contiguous().to(clock.device)
        materialise(torch, model, batch)
        measured = list(iterations(torch, model, batch, clock))[WARM_UP:]
    always = set.intersection(*(set(gradients) for _, gradients in measured))
    until = {name: median(gradients[name] for _, gradients in measured) for name in always}
    if not until:
        refuse("no gradient in its backward pass")
    return clock.device, median(forward for forward, _ in measured), dict(sorted(until.items(), key=lambda at: at[1]))


def trace(torch, model, spec, shape, samples, device, forward, until):
    """Chakra JSON: forward, then for each gradient its computation and its all-reduce."""
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
    rows = [(printable(counter.names[key].replace(",", ";")), counter.tensors[key].numel(), *work)
            for key, work in counter.rows.items()]
    columns = ["layer", "parameters", "forward_flop", "attention_flop", "activation_bytes", "attention_bytes"]
    shapes = ["shape", *("x".join(map(str, counter.tensors[key].shape)) or "1" for key in counter.rows)]
    chosen = [i for i in range(len(columns)) if i not in (3, 5) or any(row[i] for row in rows)]
    header = {"model": spec.rpartition(":")[2], "sample": shape, "parameters": sum(row[1] for row in rows),
              "flop": sum(row[2] for row in rows), "source": f"{spec}; PyTorch {torch.__version__}; from_torch.py"}
    return "\n".join([*(printable(f"# {key}: {value}") for key, value in header.items()),
                      *(",".join([*(str(row[i]) for i in chosen), shape])
                        for row, shape in zip([columns, *rows], shapes))])


def say(text):
    sys.stdout.flush()  # the module's own output
    print(printable(text), file=sys.stderr)


def main(arguments):
    samples = arguments[4] if len(arguments) == 5 and arguments[3] == "--measure" else None
    if len(arguments) != (3 if samples is None else 5) or arguments[1] != "--input":
        print(__doc__, file=sys.stderr)
        return 2
    if samples is not None and not re.fullmatch("[1-9][0-9]{0,8}", samples):
        refuse(f"--measure '{samples}': must be a whole number of samples, at least 1")
    result = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)  # output of the module, of C code and of subprocesses goes to stderr
    try:
        import torch
    except ImportError as error:
        refuse(f"PyTorch is missing ({error}): apt-get install python3-torch")
    sample = sample_of(torch, arguments[2])
    model = load(torch, arguments[0])
    if samples is not None:
        device, forward, until = measure(torch, model, sample, int(samples))
        print(trace(torch, model, arguments[0], arguments[2], samples, device, forward, until), file=result, flush=True)
        say(f"measured on {device}, medians of {REPEATS}: forward {forward:.4g} s, backward "
            f"{max(until.values()):.4g} s; simulate it with --batch {samples}")
        return 0
    counter = count(torch, model, sample)
    print(csv(torch, arguments[0], arguments[2], counter), file=result, flush=True)
    for kind, (parameters, counted) in counter.unknown.items():
        say(f"not known: {kind}, {parameters} parameters: its tensors are counted, {counted}")
    unused = [key for key in counter.names if key not in counter.rows]
    if unused:
        of_all = sum(counter.tensors[key].numel() for key in counter.names)
        say(f"left out, because no output depends on them: {sum(counter.tensors[key].numel() for key in unused)} of {of_all} "
            f"parameters: {', '.join(counter.names[key] for key in unused)}")
    return 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        try:
            print(printable(f"from_torch.py: {type(error).__name__}: {error}"), file=sys.stderr, flush=True)
        finally:
            os._exit(2)  # without the flush at exit, which would fail again
    sys.exit(code)
