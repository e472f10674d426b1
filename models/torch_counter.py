"""Counts the operations of a module's forward pass for from_torch.py, by the PyTorch functions that it calls."""

import inspect
import re
from math import isqrt, prod


def flat(values):
    """The leaves of nested arguments or outputs: sequences, dictionaries, data classes."""
    todo = [values]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            value = [*value.values()]
        elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
            value = [getattr(value, field, None) for field in value.__dataclass_fields__]
        if isinstance(value, (list, tuple)):
            todo += reversed(value)
        else:
            yield value


SAMPLE = "sample"  # marks a tensor that depends on the sample


class Counter:
    """Rows by tensor in order of first use; work without a tensor is carried to the next row."""

    def __init__(self, torch, model, sample):
        self.torch = torch
        self.names = {id(tensor): name for name, tensor in model.named_parameters() if tensor.requires_grad}
        self.tensors = {id(tensor): tensor for tensor in model.parameters()}
        self.rows, self.carried = {}, [0, 0, 0, 0]  # flop, of attention; bytes, of attention
        self.latest, self.touched, self.unknown, self.held = set(), set(), {}, []
        self.owned = {storage_of(tensor) for tensor in [*model.parameters(), *model.buffers()]}
        self.pairs = set()  # shapes of scores
        self.nodes = set()  # nodes of autograd's graph that seen functions made
        sample.made_of = SAMPLE

    def made_of(self, tensor):
        """SAMPLE, or the ids of the model's tensors that alone make up a tensor; empty for a constant."""
        if id(tensor) in self.tensors:
            return (id(tensor),)
        if hasattr(tensor, "made_of"):
            return tensor.made_of
        if tensor._base is not None:  # indexing, which PyTorch 1.13 does not report
            return self.made_of(tensor._base)
        node = tensor.grad_fn
        while re.match("Index|Select|Slice", type(node).__name__):
            node = node.next_functions[0][0]
        if type(node).__name__ == "AccumulateGrad":
            return self.made_of(node.variable)
        return SAMPLE if tensor.requires_grad else ()

    def not_known(self, kind, tensors, counted="but not its work"):
        parameters, _ = self.unknown.get(kind, (0, ""))
        self.unknown[kind] = parameters + sum(tensor.numel() for tensor in tensors), counted

    def is_weight(self, tensor):
        return self.made_of(tensor) not in (SAMPLE, ())

    def tensors_in(self, values):
        return [value for value in flat(values) if isinstance(value, self.torch.Tensor)]

    def see(self, name, arguments, result):
        """Records a function call. A result made of weights alone is a weight; otherwise the call uses its weights."""
        tensors, results = self.tensors_in(arguments), self.tensors_in(result)
        if name == "__setitem__":
            results = tensors[:1]
        if not results:
            return  # a shape, a device
        self.follow(tensors)
        work = work_of(name, arguments, tensors, result, self.is_weight)
        origins = [self.made_of(tensor) for tensor in tensors]
        if work or SAMPLE in origins:
            made_of = SAMPLE
            self.use(tensors, work, attention=name in PRODUCTS)
            if name in PRODUCTS and len(tensors) - (name in WITH_SUM) == 2 and work and not self.is_weight(work[0][0]):
                self.multiplied(tensors[-2:][0], result)
        else:
            made_of = tuple(dict.fromkeys(root for roots in origins for root in roots))
            if made_of:
                self.held += results
                self.owned.update(map(storage_of, results))  # does not depend on the sample
        self.nodes.update(tensor.grad_fn for tensor in results if tensor.grad_fn is not None)
        for tensor in results:
            if id(tensor) not in self.tensors:
                tensor.made_of = made_of

    def follow(self, tensors):
        """Finds in autograd's graph the tensors that unseen functions used, such as TorchScript's."""
        found, todo = {}, [tensor.grad_fn for tensor in tensors if tensor.requires_grad
                           and not hasattr(tensor, "made_of") and self.made_of(tensor) is SAMPLE]
        seen_only = True
        while todo:
            node = todo.pop()
            if node is not None and node not in self.nodes:
                self.nodes.add(node)
                if type(node).__name__ == "AccumulateGrad":
                    found[id(node.variable)] = node.variable
                seen_only = seen_only and not UNSEEN_PRODUCT.match(type(node).__name__)
                todo += [following for following, _ in node.next_functions]
        found = [tensor for key, tensor in self.tensors.items() if key in found]  # in the model's order
        self.use(found, [])
        if not seen_only:
            self.not_known("work outside PyTorch functions (TorchScript, say)", found)

    def use(self, tensors, work, attention=False):
        """Adds a row for each model tensor that has none yet; other work is carried to the next row."""
        flop = {}
        for owner, more in work:
            if owner is None or not self.is_weight(owner):
                self.carry(more, more if attention else 0)
            else:
                flop[id(owner)] = flop.get(id(owner), 0) + more
        weights = {id(tensor): self.made_of(tensor) for tensor in tensors if self.is_weight(tensor)}
        roots = [root for made_of in weights.values() for root in made_of]
        self.touched.update(roots)
        new = {root for root in roots if root in self.names} - self.rows.keys()
        for key, made_of in weights.items():
            again = [root for root in made_of if root in self.latest]
            if again and not new:
                self.rows[again[0]][0] += flop.get(key, 0)  # the next step of a recurrent cell
                continue
            self.carry(flop.get(key, 0))
            for root in made_of:
                if root in self.names and root not in self.rows:
                    self.rows[root], self.carried = self.carried, [0, 0, 0, 0]
        self.latest = new or self.latest

    def carry(self, flop, attention=0, kept=0, of_attention=0):
        self.carried = [sum(pair) for pair in zip(self.carried, (flop, attention, kept, of_attention))]

    def multiplied(self, left, result):
        """Notes the shape of a product of two computed values: scores, unless the left factor is scores."""
        if result.dim() > 1 and tuple(left.shape[-2:]) not in self.pairs:
            self.pairs.add(tuple(result.shape[-2:]))

    def attend(self, of, lengths):
        """Counts the projections of query, key and value, the products of pairs of tokens, and the output projection."""
        tokens, keys = lengths
        query, key, weight, out = of["query"], of["key"], of["in_proj_weight"], of["out_proj_weight"]
        samples = prod(query.shape[1:-1])
        counts = {"q_proj_weight": tokens, "k_proj_weight": key.shape[0], "v_proj_weight": key.shape[0]}
        if weight is not None:
            inputs = [(weight, 2 * (weight.numel() // 3) * samples * sum(counts.values()))]
        else:
            inputs = [(of[name], 2 * of[name].numel() * samples * count) for name, count in counts.items()]
        pairs = 4 * samples * tokens * keys * query.shape[-1]
        inside = [of[name] for name in ("in_proj_bias", "bias_k", "bias_v") if of[name] is not None]
        self.use(self.tensors_in((query, key, of["value"])), [])
        self.use([tensor for tensor, _ in inputs] + inside, inputs)
        self.carry(pairs, pairs)
        self.use([out, *([] if of["out_proj_bias"] is None else [of["out_proj_bias"]])],
                 [(out, 2 * out.numel() * samples * tokens)])

    def keep(self, tensor):
        """Counts a tensor that autograd saves; each storage counts once."""
        storage = storage_of(tensor)
        if storage not in self.owned:
            self.owned.add(storage)
            size = storage_bytes(tensor) * (2 if tensor.is_floating_point() else tensor.element_size())
            kept = size // tensor.element_size()
            self.carry(0, 0, kept, kept if tuple(tensor.shape[-2:]) in self.pairs else 0)
        return tensor

    def finish(self, reached):
        """Keeps the rows of tensors with a gradient. A tensor without a seen use comes after the one created before it."""
        order, before = [*self.rows], None
        for key in self.names:
            if key in reached and key not in self.rows:
                order.insert(order.index(before) + 1 if before else 0, key)
            before = key if key in order else before
        rows, waits = {}, [0, 0, 0, 0]
        for key in order:
            waits = [sum(pair) for pair in zip(waits, self.rows.get(key, [0, 0, 0, 0]))]
            if key in reached:
                rows[key], waits = waits, [0, 0, 0, 0]
        for last in [*rows][-1:]:
            rows[last] = [sum(parts) for parts in zip(rows[last], waits, self.carried)]
        self.rows = rows


def storage_of(tensor):
    return (tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()).data_ptr()


def storage_bytes(tensor):
    return (tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()).nbytes()


WITH_SUM = {"addmm", "baddbmm", "addmv", "addbmm"}
PRODUCTS = {"matmul", "rmatmul", "mm", "bmm", "mv", "dot", "vdot", "inner", "einsum", "tensordot",
            "scaled_dot_product_attention", *WITH_SUM}
UNSEEN_PRODUCT = re.compile(r"Addmm|Mm|Bmm|Baddbmm|Mv|Dot|Convolution|DifferentiableGraph|Lstm|Gru|Rnn|Mkldnn|Bilinear")
NOT_COUNTED = re.compile(r"(linalg_)?multi_dot|chain_matmul|cdist|i?r?fft.*|fft_.*")


def work_of(name, arguments, tensors, result, is_weight):
    """The operations of a function with this name, as pairs of a factor tensor and its operations."""
    if name in PRODUCTS and name != "scaled_dot_product_attention":
        left, right = tensors[name in WITH_SUM:][:2] if len(tensors) > 1 else (tensors[0], tensors[0])
        owner = left if is_weight(left) and not is_weight(right) else right
        if name == "einsum":
            flops = einsum_flops(next(value for value in flat(arguments) if isinstance(value, str)), tensors)
            factors = [owner, *tensors[2:]]
            return [(factor, flop) for factor, flop in zip(factors, flops) if flop]
        elif name == "tensordot":
            flop = 2 * isqrt(left.numel() * right.numel() * result.numel())
        elif name == "addbmm":
            flop = 2 * left.numel() * right.shape[-1]
        else:
            flop = 2 * result.numel() * (right if name == "rmatmul" else left).shape[-1]
        return [(owner, flop)] if flop else []
    if name == "scaled_dot_product_attention":
        query, key, value = tensors[:3]
        return [(None, 2 * prod(query.shape[:-1]) * key.shape[-2] * (query.shape[-1] + value.shape[-1]))]
    if name == "linear":
        data, weight = tensors[:2]
        return [(weight, 2 * weight.numel() * (data.numel() // weight.shape[-1]))]
    if match := re.fullmatch(r"conv(_transpose|_tbc)?([123]d)?|convolution", name):
        data, weight = tensors[:2]
        channels, values = (weight.shape[0], data) if match[1] == "_transpose" else (weight.shape[2 * (match[1] == "_tbc")], result)
        return [(weight, 2 * weight.numel() * values.numel() // channels)]
    if name == "bilinear":
        first, second, weight = tensors[:3]
        return [(weight, 2 * (first.numel() // first.shape[-1]) * (weight.numel() + weight.shape[0] * second.shape[-1]))]
    if re.fullmatch(r"(lstm|gru|rnn_tanh|rnn_relu)(_cell)?", name):
        rows = tensors[0].numel() // tensors[0].shape[-1]
        return [(tensor, 2 * rows * tensor.numel()) for tensor in tensors[1:] if tensor.dim() == 2 and is_weight(tensor)]
    return []


def einsum_flops(equation, operands):
    """Operations of each operand after the first with the partial result, in torch.einsum's order; 0 without a contraction."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    inputs, sizes, flops = inputs.split(","), {}, []
    for index, operand in enumerate(operands):
        left, dots, right = inputs[index].partition("...")
        free = operand.dim() - len(left) - len(right)
        inputs[index] = [*left, *(f"...{k}" for k in range(-free, 0)), *right]  # an ellipsis is aligned to the right
        for label, size in zip(inputs[index], operand.shape):
            sizes[label] = max(size, sizes.get(label, 1))
    every = sum(inputs, [])
    kept = {label for label in every if label[:3] == "..." or (label in output if arrow else every.count(label) == 1)}
    has = set(inputs[0])
    for index, labels in enumerate(inputs[1:], 2):
        together, later = has.union(labels), kept.union(*inputs[index:])
        flops.append(2 * prod(sizes[label] for label in together) if together - later else 0)
        has = together & later
    return flops


# Keyword arguments of PyTorch's functions in positional order, factors before sums.
KEYWORDS = ["input", "self", "input1", "mat", "mat1", "batch1", "x1", "a", "query", "key", "value", "vec1", "input2", "other",
            "mat2", "batch2", "x2", "b", "weight", "tensor", "vec", "vec2", "bias"]


def functions(torch, counter):
    """A context that reports every call of a PyTorch function to the counter."""
    class Functions(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs, name, of = kwargs or {}, getattr(function, "__name__", "?"), None
            name = name if name == "__setitem__" else re.sub(r"(?<=[a-z0-9])_$", "", name.strip("_") if name[:2] == "__" else name)
            if name == "multi_head_attention_forward":
                of = inspect.signature(function).bind(*args, **kwargs)
                of.apply_defaults()
                of = of.arguments
                lengths = of["query"].shape[0], of["key"].shape[0] + (of["bias_k"] is not None) + bool(of["add_zero_attn"])
                counter.pairs.add(lengths)
            result = function(*args, **kwargs)
            try:
                if of:
                    counter.attend(of, lengths)
                named = sorted(kwargs, key=lambda word: KEYWORDS.index(word) if word in KEYWORDS else len(KEYWORDS))
                counter.see(name, [*args, *(kwargs[word] for word in named if word != "out")], result)
                if NOT_COUNTED.fullmatch(name):
                    raise ValueError("operations are not known")
            except (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError):
                counter.not_known(f"a call of {name}", [])
            return result
    return Functions()
