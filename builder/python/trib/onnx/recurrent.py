"""RNN, GRU and LSTM: a loop over the steps, in the order of gates that ONNX has."""

from .translate import Unsupported
from .values import Text, Value


def common(node, usual):
    """Refuses what the loop does not compute."""
    if node.attr("direction") not in (None, "forward"):
        raise Unsupported("direction other than forward: use one network for each direction")
    activations = [a.decode().lower() if isinstance(a, bytes) else a.lower() for a in node.attr("activations") or usual]
    if activations != usual or node.attr("clip"):
        raise Unsupported(f"other activations than {usual}, or clip: use these")
    if node.has(4):
        raise Unsupported("sequence_lens: use sequences of one length")


def start(node, names, states):
    """Statements before the loop: weights without the dimension of directions, the first states."""
    writer, hidden = node.writer, node.attr("hidden_size")
    node.batch_first = bool(node.attr("layout"))
    x = f"{node.text(0, 13)}.transpose(0, 1)" if node.batch_first else node.text(0)
    steps, batch = node.dims()[:2] if not node.batch_first else node.dims()[1::-1]
    made = {"x": writer.fresh("x")}
    writer.lines.append(f"        let {made['x']} = {x}")
    for name, text in names:
        made[name] = writer.fresh(name)
        writer.lines.append(f"        let {made[name]} = {text}")
    for name, i in states:
        made[name] = writer.fresh(name)
        first = f"zeros([{batch}, {hidden}])"
        if node.has(i):
            first = f"{node.text(i, 13)}[{':, 0' if node.batch_first else '0'}]"
        writer.lines.append(f"        let {made[name]} = {first}")
    made["ys"], made["t"] = writer.fresh("ys"), writer.fresh("t")
    writer.lines.append(f"        let {made['ys']} = []")
    writer.lines.append(f"        for {made['t']} in 0..{steps} {{")
    return made, steps, batch, hidden


def finish(node, made, steps, batch, hidden, results):
    """Statements after the body, and the results."""
    node.writer.lines += [f"            {made['ys']}.append({made['h']})", "        }"]
    whole = f"stack({made['ys']}, dim=0)"
    y = f"{whole}.transpose(0, 1).unsqueeze(2)" if node.batch_first else f"{whole}.unsqueeze(1)"
    dims = [batch, steps, 1, hidden] if node.batch_first else [steps, 1, batch, hidden]
    last = [batch, 1, hidden] if node.batch_first else [1, batch, hidden]
    at = 1 if node.batch_first else 0
    made_values = [Value(Text(y), node.dtype(), dims)]
    made_values += [Value(Text(f"{made[name]}.unsqueeze({at})"), node.dtype(), list(last)) for name in results]
    return made_values


def weights(node, gates):
    """Texts of W, R and the two halves of B."""
    hidden = node.attr("hidden_size")
    rows = gates * hidden
    bias = f"{node.text(3, 13)}[0]" if node.has(3) else None
    names = [("w", f"{node.text(1, 13)}[0].transpose()"), ("r", f"{node.text(2, 13)}[0].transpose()")]
    names.append(("bw", f"{bias}[:{rows}]" if bias else f"zeros([{rows}])"))
    names.append(("br", f"{bias}[{rows}:]" if bias else f"zeros([{rows}])"))
    return names


def put(node, made, lines):
    node.writer.lines += ["            " + line.format(**made) for line in lines]


def rnn(node):
    """h = tanh(x W + h R + b)."""
    common(node, ["tanh"])
    made, *rest = start(node, weights(node, 1), [("h", 5)])
    put(node, made, ["{h} = tanh({x}[{t}] @ {w} + {h} @ {r} + ({bw} + {br}))"])
    return finish(node, made, *rest, ["h"])


def gru(node):
    """Gates z, r, h."""
    common(node, ["sigmoid", "tanh"])
    made, *rest = start(node, weights(node, 3), [("h", 5)])
    n = rest[-1]
    made.update({key: node.writer.fresh(key) for key in ("a", "b", "z", "q", "c")})
    lines = ["let {a} = {x}[{t}] @ {w} + {bw}"]
    if node.attr("linear_before_reset"):
        lines.append("let {b} = {h} @ {r} + {br}")
        new = f"tanh({{a}}[:, {2 * n}:] + {{q}} * {{b}}[:, {2 * n}:])"
    else:
        lines.append(f"let {{b}} = {{h}} @ {{r}}[:, :{2 * n}] + {{br}}[:{2 * n}]")
        new = f"tanh({{a}}[:, {2 * n}:] + ({{q}} * {{h}}) @ {{r}}[:, {2 * n}:] + {{br}}[{2 * n}:])"
    lines += [
        f"let {{z}} = sigmoid({{a}}[:, :{n}] + {{b}}[:, :{n}])",
        f"let {{q}} = sigmoid({{a}}[:, {n}:{2 * n}] + {{b}}[:, {n}:{2 * n}])",
        f"let {{c}} = {new}",
        "{h} = (1.0 - {z}) * {c} + {z} * {h}",
    ]
    put(node, made, lines)
    return finish(node, made, *rest, ["h"])


def lstm(node):
    """Gates i, o, f, c; `P` has peepholes."""
    common(node, ["sigmoid", "tanh", "tanh"])
    if node.attr("input_forget"):
        raise Unsupported("input_forget: use an LSTM without it")
    made, *rest = start(node, weights(node, 4), [("h", 5), ("c", 6)])
    n = rest[-1]
    made.update({key: node.writer.fresh(key) for key in ("a", "i", "o", "f")})
    peep = [f" + {node.text(7, 13)}[0, {k * n}:{(k + 1) * n}] * {{c}}" if node.has(7) else "" for k in range(3)]
    put(node, made, [
        "let {a} = {x}[{t}] @ {w} + {h} @ {r} + ({bw} + {br})",
        f"let {{i}} = sigmoid({{a}}[:, :{n}]{peep[0]})",
        f"let {{f}} = sigmoid({{a}}[:, {2 * n}:{3 * n}]{peep[2]})",
        f"{{c}} = {{f}} * {{c}} + {{i}} * tanh({{a}}[:, {3 * n}:])",
        f"let {{o}} = sigmoid({{a}}[:, {n}:{2 * n}]{peep[1]})",
        "{h} = {o} * tanh({c})",
    ])  # fmt: skip
    return finish(node, made, *rest, ["h", "c"])
