"""Draws training losses, and bars of sizes, as SVG."""

INK, GRID, SERIES = "#333", "#ddd", ("#d1495b", "#30638e")
WIDTH, HEIGHT, LEFT, TOP = 250, 150, 50, 40  # of a panel, and its place


def smooth(values, points=60):
    """The means of `points` equal parts."""
    size = max(1, len(values) // points)
    return [sum(values[k : k + size]) / len(values[k : k + size]) for k in range(0, len(values), size)]


def label(x, y, text, anchor="start", weight="normal", color=INK):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-weight="{weight}" fill="{color}">{text}</text>'


def curves(x, title, losses):
    """A panel of losses by step; `losses` are (name, values)."""
    lines = [(name, smooth(values)) for name, values in losses]
    top = max(max(values) for _, values in lines)
    parts = [label(x, TOP - 14, f"{title}: loss", weight="bold")]
    for part in range(5):
        y = TOP + HEIGHT * part / 4
        parts.append(f'<path d="M{x} {y:.1f}h{WIDTH}" stroke="{GRID}"/>')
        parts.append(label(x - 6, y + 4, f"{top * (4 - part) / 4:.1f}", "end"))
    parts.append(label(x + WIDTH, TOP + HEIGHT + 16, f"{max(len(v) for _, v in losses)} steps", "end"))
    for color, (_, values) in zip(SERIES, lines):
        step = WIDTH / max(1, len(values) - 1)
        points = " ".join(f"{x + k * step:.1f},{TOP + HEIGHT * (1 - v / top):.1f}" for k, v in enumerate(values))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
    return parts


def bars(x, title, rows):
    """Two bars with their sizes and results; `rows` are (name, bytes, result)."""
    most = max(size for _, size, _ in rows)
    parts = [label(x, TOP - 14, f"{title}: weights", weight="bold")]
    for k, (color, (name, size, result)) in enumerate(zip(SERIES, rows)):
        y = TOP + 14 + 64 * k
        parts.append(label(x, y, f"{name}: {result}"))
        parts.append(f'<rect x="{x}" y="{y + 8}" width="{110 * size / most:.1f}" height="18" fill="{color}"/>')
        parts.append(label(x + 110 * size / most + 6, y + 22, f"{size / 1024:.1f} KiB"))
    return parts


def draw(path, panels):
    """Writes one row for each panel: (title, [(name, losses, bytes, result)…]), first the ternary network, then the
    float one."""
    row, rows = HEIGHT + TOP + 30, []
    for k, (title, runs) in enumerate(panels):
        parts = curves(LEFT, title, [(name, losses) for name, losses, _, _ in runs])
        parts += bars(LEFT + WIDTH + 40, title, [(name, size, result) for name, _, size, result in runs])
        rows.append(f'<g transform="translate(0 {row * k})">' + "".join(parts) + "</g>")
    size = (LEFT + WIDTH + 230, row * len(panels))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}"'
    with open(path, "w") as f:
        f.write(
            "\n".join(
                [
                    head,
                    ' font-family="sans-serif" font-size="12">',
                    '<rect width="100%" height="100%" fill="#fff"/>',
                    *rows,
                    "</svg>",
                    "",
                ]
            )
        )
