"""Sizes that are known only at run time: their names in a signature, and expressions of them as text."""

import sympy
import torch

from .parts import ATOM, LOOSE, PRODUCT, SUM

# Names of symbolic dimensions by rank and position.
AXES = {1: "L", 2: "NL", 3: "NLD", 4: "NCHW", 5: "NCDHW"}


def expression(size):
    """The sympy expression of a symbolic size, or None of a number."""
    return size.node.expr if isinstance(size, torch.SymInt) and not size.node.expr.is_number else None


def name_sizes(tensors, given, taken):
    """Names for the symbolic sizes of tensors: {expression: name}. `given` names symbols; `taken` are names to
    avoid."""
    names, used = {}, set(taken)
    for tensor in tensors:
        axes = AXES.get(tensor.dim(), "S" * tensor.dim())
        for axis, size in zip(axes, tensor.shape):
            expr = expression(size)
            if expr is None or expr in names:
                continue
            wanted = given.get(expr, axis)
            name, number = wanted, 2
            while name in used:
                name, number = f"{wanted}{number}", number + 1
            names[expr] = name
            used.add(name)
    return names


def _wrap(text, prec, inner):
    return f"({text})" if inner < prec else text


def size_text(expr, names, prec=LOOSE):
    """`expr` in the names of a signature, or None if it needs others."""
    if expr in names:
        return names[expr]
    if expr.is_Integer:
        return _wrap(str(expr), prec, ATOM if expr >= 0 else SUM)
    kind = expr.func.__name__
    args = expr.args
    if not args:
        return None
    if kind == "Add":
        return _sum(args, names, prec)
    if kind == "Mul":
        return (
            _infix([a for a in args if a != -1], "*", names, PRODUCT, prec)
            if -1 not in args
            else _negative(expr, names, prec)
        )
    if kind == "Pow" and args[1].is_Integer and args[1] > 0:
        return _infix([args[0]] * int(args[1]), "*", names, PRODUCT, prec)
    if kind in ("FloorDiv", "CleanDiv", "Mod", "PythonMod"):
        return _infix(args, "%" if "Mod" in kind else "//", names, PRODUCT, prec)
    if kind == "floor":
        top, bottom = sympy.fraction(sympy.together(args[0]))
        return _infix([top, bottom], "//", names, PRODUCT, prec)
    if kind in ("Max", "Min"):
        inner = [size_text(a, names) for a in args]
        return None if None in inner else f"{kind.lower()}({', '.join(inner)})"
    return None


def _negative(expr, names, prec):
    inner = size_text(-expr, names, ATOM)
    return None if inner is None else _wrap("-" + inner, prec, SUM)


def _infix(args, sign, names, own, prec):
    inner = [size_text(a, names, own if i == 0 else own + 1) for i, a in enumerate(args)]
    return None if None in inner else _wrap(f" {sign} ".join(inner), prec, own)


def _sum(args, names, prec):
    # Numbers come last: N + 1.
    text = ""
    for term in sorted(args, key=lambda a: (a.is_number, str(a))):
        negative = term.could_extract_minus_sign()
        inner = size_text(-term if negative else term, names, PRODUCT)
        if inner is None:
            return None
        text += (" - " if negative else " + ") + inner if text else ("-" if negative else "") + inner
    return _wrap(text, prec, SUM)
