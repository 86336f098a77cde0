"""Norms, softmax and attention in random programs."""
import math

from bounds import Invalid, Size, approximate, broadcast, count, rounded
from program import operation
from reduce import sum_error

FULL = lambda t: t.elem in ("float32", "float64") and not t.wild

def normed(t, n, eps):
    """Divided by at least sqrt(eps); at most sqrt(n) in size."""
    moved = 2 * t.err + 4 * sum_error(t.elem, 1, t.size())
    most = min(math.sqrt(n), 2 * t.size() / math.sqrt(eps)) + 1e-3
    return most, 4 * moved / math.sqrt(eps) + 4e-5 * most if t.elem != "float64" else 4 * moved / math.sqrt(eps) + 1e-9


def affine(t, shape, most, err, weights):
    if not weights:
        return rounded(t.elem, shape, -most, most, err, None)
    w, *b = weights
    shift = b[0].size() if b else 0
    return rounded(t.elem, shape, -most * w.size() - shift, most * w.size() + shift, err * w.size() + 1e-5 * shift, None)


def norm_infer(types, attrs):
    t, *weights = types
    f = attrs["f"]
    if not FULL(t) or t.rank < (3 if f == "instance_norm" else 2) or any(w.elem != t.elem for w in weights):
        raise Invalid
    channels = t.shape[-1] if f in ("layer_norm", "rms_norm") else t.shape[1]
    if not channels.known() or any(w.shape != (channels,) for w in weights):
        raise Invalid
    if f == "group_norm" and channels.constant % attrs["groups"]:
        raise Invalid
    n = channels.constant if f in ("layer_norm", "rms_norm") else count(t.shape[2:]) * (channels.constant // attrs["groups"] if f == "group_norm" else 1)
    if f == "batch_norm":
        mean, var, *weights = weights
        if var.lo < 0.2:
            raise Invalid
        most = (t.size() + mean.size()) / math.sqrt(var.lo)
        return affine(t, t.shape, most, 3 * t.err + 2e-5 * most, weights)
    most, err = normed(t, n, attrs["eps"])
    return affine(t, t.shape, most, err, weights)


def draw_norm(g):
    f = g.choice(["layer_norm", "layer_norm", "rms_norm", "rms_norm", "batch_norm", "batch_norm", "batch_norm", "group_norm", "instance_norm"])
    channel = -1 if f in ("layer_norm", "rms_norm") else 1
    low = 4 if f == "instance_norm" else 2 if channel == -1 else 3
    x = g.pick(lambda t: FULL(t) and low <= t.rank <= 4 and t.shape[channel].known())
    t = g.type(x)
    c = t.shape[channel].constant
    g.not_empty()
    weights = []
    if f == "batch_norm":
        weights = [g.weight(t.elem, [c]), g.weight(t.elem, [c], positive=True)]
    if f in ("rms_norm", "batch_norm", "layer_norm", "group_norm") and g.chance(0.7):
        weights.append(g.weight(t.elem, [c]))
        if f != "rms_norm":
            weights.append(g.weight(t.elem, [c]))
    return [x, *weights], {"f": f, "eps": g.choice([1e-3, 0.1, 0.5]), "groups": g.choice([k for k in (1, 2, 3, 4, 8) if c % k == 0])}


def norm_text(a, attrs, types):
    f, x, w = attrs["f"], a[0], a[1:]
    eps = f"eps={attrs['eps']}"
    if f == "batch_norm":
        named = [f"{k}={v}" for k, v in zip(("running_mean", "running_var", "weight", "bias"), w)]
    else:
        named = [f"{k}={v}" for k, v in zip(("weight", "bias"), w)]
    groups = [str(attrs["groups"])] if f == "group_norm" else []
    return f"{f}({', '.join([x, *groups, *named, eps])})"


operation("norm", draw_norm, norm_infer, norm_text, 3)


def softmax_infer(types, attrs):
    (t,) = types
    if not t.is_float() or attrs["axis"] >= t.rank:
        raise Invalid
    n = t.shape[attrs["axis"]].most()
    if attrs["f"] == "softmax":
        return approximate(t.elem, t.shape, 0.0, 1.0, 2 * t.err + sum_error(t.elem, 2, 1), t.wild)
    return approximate(t.elem, t.shape, t.lo - t.hi - math.log(n), 1e-3, 2 * t.err + sum_error(t.elem, 4, max(1, t.size())), t.wild)


def draw_softmax(g):
    f = g.choice(["softmax", "softmax", "log_softmax"])
    x = g.pick(lambda t: t.is_float() and 1 <= t.rank and not (t.wild and f == "log_softmax"))
    g.not_empty()
    r = g.type(x).rank
    return [x], {"f": f, "axis": r - 1 if g.chance(0.6) else g.integer(0, r - 1)}


operation("softmax", draw_softmax, softmax_infer, lambda a, attrs, t: f"{attrs['f']}({a[0]}, dim={attrs['axis']})", 2)


def attention_infer(types, attrs):
    q, k, v, *mask = types
    if q.rank < 2 or q.rank != k.rank or k.rank != v.rank or not FULL(q) or not FULL(k) or not FULL(v) or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise Invalid
    if len({q.elem, k.elem, v.elem}) > 1:
        raise Invalid
    lead = list(q.shape[:-2])
    if q.rank > 2:
        h, hk = q.shape[-3], k.shape[-3]
        if not h.known() or not hk.known() or h.constant % hk.constant or k.shape[:-2] != v.shape[:-2] or q.shape[:-3] != k.shape[:-3]:
            raise Invalid
    scores = (*lead, q.shape[-2], k.shape[-2])
    if mask and (mask[0].elem not in ("bool", q.elem) or mask[0].wild or broadcast(mask[0].shape, scores) != tuple(scores)):
        raise Invalid
    e = q.shape[-1].most()
    scale = attrs["scale"] or 1 / math.sqrt(e)
    size = scale * e * q.size() * k.size()
    if size > 60:
        raise Invalid
    err = scale * e * (q.err * k.size() + k.err * q.size() + 1e-5 * q.size() * k.size()) + (mask[0].err if mask else 0)
    n = k.shape[-2].most()
    return approximate(q.elem, (*lead, q.shape[-2], v.shape[-1]), min(v.lo, 0), max(v.hi, 0), v.err + v.size() * (2 * err + 4e-5 + 1e-5 * n))


def draw_attention(g):
    x = g.pick(lambda t: FULL(t) and t.rank in (2, 3, 4) and (t.rank == 2 or t.shape[-3].known()) and t.size() <= 5)
    t = g.type(x)
    same = g.all(lambda u: u.elem == t.elem and u.shape == t.shape and u.size() <= 5)
    lead, e = list(t.shape[:-2]), t.shape[-1]
    if t.rank > 2:
        lead[-1] = Size.of(g.choice([k for k in (1, 1, 2, 3, 4, lead[-1].constant) if lead[-1].constant % k == 0]))
    if g.chance(0.3):
        k, v = g.choice(same), g.choice(same)
        s = t.shape[-2]
    else:
        s = g.size()
        k, v = g.input(t.elem, [*lead, s, e]), g.input(t.elem, [*lead, s, g.choice([e, Size.of(g.integer(1, 5))])])
    g.not_empty()
    args = [x, k, v]
    if g.chance(0.4):
        args.append(g.fitting(g.choice(["bool", t.elem]), [t.shape[-2], s], exactly=True))
    return args, {"causal": g.chance(0.4), "scale": g.choice([None, None, 0.25, 1.0])}


def attention_text(a, attrs, types):
    more = (", mask=" + a[3] if len(a) > 3 else "") + (", causal=true" if attrs["causal"] else "") + (f", scale={attrs['scale']}" if attrs["scale"] else "")
    return f"attention({', '.join(a[:3])}{more})"


operation("attention", draw_attention, attention_infer, attention_text, 3)


def rope_infer(types, attrs):
    (t,) = types
    if not FULL(t) or t.rank < 2 or not t.shape[-1].known() or t.shape[-1].constant % 2:
        raise Invalid
    most = 1.5 * t.size()
    return rounded(t.elem, t.shape, -most, most, 2 * t.err + 4e-5 * most, None)


operation("rope", lambda g: ([g.pick(lambda t: FULL(t) and t.rank >= 2 and t.shape[-1].known() and t.shape[-1].constant % 2 == 0)], {"interleaved": g.chance(0.5)}), rope_infer,
          lambda a, attrs, t: f"rope({a[0]}, interleaved={str(attrs['interleaved']).lower()})", 0.8)
