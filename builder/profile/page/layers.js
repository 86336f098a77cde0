/* Layered drawings of directed graphs: K. Sugiyama et al., "Methods for visual understanding of hierarchical system structures", 1981. Small graphs get an
   order with few crossings and edges along free ways; of large ones each layer is a block of cells. */
"use strict";
const layered = (() => {
  const WIDTH = 168, HEIGHT = 26, MOST_ROUTED = 2500, LEAST_SCALE = 0.25;

  /* Neighbours as flat arrays: those of v are list[start[v]] … list[start[v + 1] - 1]. */
  function neighbours(n, edges, from, to) {
    const start = new Uint32Array(n + 1), list = new Uint32Array(edges.length);
    for (const e of edges) start[e[from] + 1]++;
    for (let v = 0; v < n; v++) start[v + 1] += start[v];
    const next = start.slice();
    for (const e of edges) list[next[e[from]]++] = e[to];
    return {start, list};
  }
  /* The edges that close no cycle: a depth-first search without recursion. */
  function acyclic(n, edges) {
    const {start, list} = neighbours(n, edges, 0, 1), state = new Uint8Array(n), at = start.slice(0, n), back = new Set(), stack = [];
    for (let root = 0; root < n; root++) {
      if (state[root]) continue;
      state[root] = 1;
      stack.push(root);
      while (stack.length) {
        const v = stack[stack.length - 1];
        if (at[v] === start[v + 1]) {
          state[v] = 2;
          stack.pop();
          continue;
        }
        const to = list[at[v]++];
        if (state[to] === 1) back.add(v * n + to);
        else if (!state[to]) {
          state[to] = 1;
          stack.push(to);
        }
      }
    }
    return back.size ? edges.filter(e => e[0] !== e[1] && !back.has(e[0] * n + e[1])) : edges;
  }
  /* The layer of a node is the longest way to it. Nodes that nothing leads to stand just before their first user. */
  function depths(n, edges) {
    const {start, list} = neighbours(n, edges, 0, 1), open = new Uint32Array(n), layer = new Int32Array(n), order = [];
    for (const e of edges) open[e[1]]++;
    const isSource = open.map(k => k === 0);
    for (let v = 0; v < n; v++) if (!open[v]) order.push(v);
    for (let i = 0; i < order.length; i++)
      for (let v = order[i], k = start[v]; k < start[v + 1]; k++) {
        layer[list[k]] = Math.max(layer[list[k]], layer[v] + 1);
        if (--open[list[k]] === 0) order.push(list[k]);
      }
    for (let v = 0; v < n; v++) {
      if (!isSource[v] || start[v] === start[v + 1]) continue;
      let first = Infinity;
      for (let k = start[v]; k < start[v + 1]; k++) first = Math.min(first, layer[list[k]]);
      layer[v] = first - 1;
    }
    return layer;
  }

  /* Places with the least squared distances to those wanted, in this order and at least `gap` apart: pools of neighbours that touch. */
  function spread(wanted, gap) {
    const pools = [];
    wanted.forEach((w, i) => {
      let pool = {sum: w - i * gap, n: 1};
      while (pools.length && pools[pools.length - 1].sum / pools[pools.length - 1].n > pool.sum / pool.n) {
        const before = pools.pop();
        pool = {sum: pool.sum + before.sum, n: pool.n + before.n};
      }
      pools.push(pool);
    });
    return pools.flatMap(p => Array(p.n).fill(p.sum / p.n)).map((x, i) => x + i * gap);
  }

  /* Long edges are split at each layer, so that they keep clear of nodes. Returns layers of vertices and the vertices of each edge. */
  function split(n, edges, layer) {
    const layers = [], parents = [], children = [], ways = [];
    const add = (v, l) => { (layers[l] ||= []).push(v); parents[v] = []; children[v] = []; };
    const join = (a, b) => { children[a].push(b); parents[b].push(a); };
    for (let v = 0; v < n; v++) add(v, layer[v]);
    let next = n;
    for (const [a, b] of edges) {
      const way = [a];
      for (let l = layer[a] + 1; l < layer[b]; l++) {
        add(next, l);
        way.push(next++);
      }
      way.push(b);
      for (let i = 1; i < way.length; i++) join(way[i - 1], way[i]);
      ways.push(way);
    }
    for (let l = 0; l < layers.length; l++) layers[l] ||= [];
    return {layers, parents, children, ways, count: next};
  }
  const mean = (list, of) => { let s = 0; for (const v of list) s += of[v]; return s / list.length; };
  function arrange(s, gap, rounds) {
    const place = new Float64Array(s.count);
    const settle = l => s.layers[l].forEach((v, i) => { place[v] = i; });
    s.layers.forEach((_, l) => settle(l));
    const sweep = (l, near) => {
      const key = new Map(s.layers[l].map(v => [v, near[v].length ? mean(near[v], place) : place[v]]));
      s.layers[l].sort((a, b) => key.get(a) - key.get(b));
      settle(l);
    };
    for (let round = 0; round < rounds; round++) {
      for (let l = 1; l < s.layers.length; l++) sweep(l, s.parents);
      for (let l = s.layers.length - 2; l >= 0; l--) sweep(l, s.children);
    }
    const cross = place.map(p => p * gap);
    const align = (l, near) => spread(s.layers[l].map(v => near[v].length ? mean(near[v], cross) : cross[v]), gap).forEach((x, i) => { cross[s.layers[l][i]] = x; });
    for (let round = 0; round < rounds; round++) {
      for (let l = 1; l < s.layers.length; l++) align(l, s.parents);
      for (let l = s.layers.length - 2; l >= 0; l--) align(l, s.children);
    }
    return cross;
  }

  /* Layers from top to bottom, in as many columns as fit the window best; or from left to right. */
  function routed(n, edges, layer, window, labels) {
    const s = split(n, edges, layer), rounds = s.count > 800 ? 3 : 8;
    const scaleOf = (w, h) => Math.min(window[0] / w, window[1] / h, 1.5);
    const across = arrange(s, HEIGHT + 16, rounds), step = WIDTH + (labels ? 150 : 64);
    const flat = {width: s.layers.length * step, height: d3.max(across) - d3.min(across) + HEIGHT};
    const down = arrange(s, WIDTH + 18, rounds), pitch = HEIGHT + (labels ? 40 : 34);
    const fold = columns => {
      const per = Math.ceil(s.layers.length / columns), parts = d3.range(columns).map(c => s.layers.slice(c * per, (c + 1) * per).flat()).filter(p => p.length);
      const ends = parts.map(p => d3.extent(p, v => down[v])), widths = ends.map(([a, b]) => b - a + WIDTH + 60);
      return {per, ends, widths, width: d3.sum(widths), height: per * pitch};
    };
    const folds = d3.range(1, Math.min(12, s.layers.length) + 1).map(fold), rated = folds.map(f => Math.min(1, scaleOf(f.width, f.height)));
    const best = folds[rated.indexOf(d3.max(rated))], x = new Float64Array(s.count), y = new Float64Array(s.count), margin = new Float64Array(s.count);
    const upright = scaleOf(best.width, best.height) >= scaleOf(flat.width, flat.height);
    s.layers.forEach((list, l) => list.forEach(v => {
      const c = Math.floor(l / best.per);
      margin[v] = d3.sum(best.widths.slice(0, c)) - 30;
      x[v] = upright ? margin[v] + 30 + down[v] - best.ends[c][0] + WIDTH / 2 : l * step + WIDTH / 2;
      y[v] = upright ? (l % best.per) * pitch + HEIGHT / 2 : across[v] + HEIGHT / 2;
    }));
    return {x, y, margin, ways: s.ways, upright, width: WIDTH, height: HEIGHT, scale: upright ? scaleOf(best.width, best.height) : scaleOf(flat.width, flat.height)};
  }

  /* Each layer is a block of cells, the costliest first. The height of all blocks is the one that fits the window best. */
  function blocks(n, layer, cost, window) {
    const layers = [];
    for (let v = 0; v < n; v++) (layers[layer[v]] ||= []).push(v);
    const list = layers.filter(l => l), cellX = WIDTH + 6, cellY = HEIGHT + 6, gap = 60;
    let rows = 1, most = 0;
    for (let r = 1; r <= n; r = Math.max(r + 1, Math.floor(r * 1.15))) {
      const width = d3.sum(list, l => Math.ceil(l.length / r)) * cellX + (list.length - 1) * gap, scale = Math.min(window[0] / width, window[1] / (r * cellY));
      if (scale > most) [rows, most] = [r, scale];
    }
    const x = new Float64Array(n), y = new Float64Array(n);
    let left = 0;
    for (const l of list) {
      l.sort((a, b) => cost[b] - cost[a]);
      l.forEach((v, i) => {
        x[v] = left + Math.floor(i / rows) * cellX + WIDTH / 2;
        y[v] = (i % rows) * cellY + HEIGHT / 2;
      });
      left += Math.ceil(l.length / rows) * cellX + gap;
    }
    return {x, y, ways: null, upright: false, width: WIDTH, height: HEIGHT, scale: most};
  }

  function connected(n, edges, cost, window, labels) {
    const layer = depths(n, edges);
    let length = n;
    for (const [a, b] of edges) length += Math.max(0, layer[b] - layer[a] - 1);
    const ways = length <= MOST_ROUTED ? routed(n, edges, layer, window, labels) : null;
    if (ways && ways.scale > LEAST_SCALE) return ways;
    const cells = blocks(n, layer, cost, window);
    return ways && ways.scale * 2 > cells.scale ? ways : cells;
  }
  /* Nodes without edges stand in columns, right of the others. */
  function beside(laid, joined, alone) {
    const count = laid.x.length + alone.length, x = new Float64Array(count), y = new Float64Array(count), margin = new Float64Array(count);
    const [y0, y1] = d3.extent(laid.y), right = d3.max(laid.x), rows = Math.max(1, Math.round((y1 - y0) / (HEIGHT + 8)) + 1);
    const place = v => v < joined.length ? joined[v] : v + alone.length; /* split edges have vertices behind those of nodes */
    for (let v = 0; v < laid.x.length; v++) {
      x[place(v)] = laid.x[v];
      y[place(v)] = laid.y[v];
      margin[place(v)] = laid.margin ? laid.margin[v] : 0;
    }
    alone.forEach((v, i) => {
      x[v] = right + (1 + Math.floor(i / rows)) * (WIDTH + 14) + 40;
      y[v] = y0 + (i % rows) * (HEIGHT + 8);
    });
    return {...laid, x, y, margin, ways: laid.ways && laid.ways.map(way => way.map(place))};
  }

  /* Centres of n nodes; margin: for each vertex the free way left of its column; edges: [from, to, …]; cost: of each node; window: [width, height] to fit.
     ways: for each edge its vertices, or null. Vertices behind the nodes are where long edges pass layers. */
  return (n, edges, cost, window, labels) => {
    const kept = acyclic(n, edges), isJoined = new Uint8Array(n), number = new Uint32Array(n), joined = [], alone = [];
    for (const [a, b] of kept) isJoined[a] = isJoined[b] = 1;
    for (let v = 0; v < n; v++) {
      number[v] = isJoined[v] ? joined.length : 0;
      (isJoined[v] ? joined : alone).push(v);
    }
    if (!joined.length || !alone.length) return {...connected(n, kept, cost, window, labels), edges: kept};
    const laid = connected(joined.length, kept.map(e => [number[e[0]], number[e[1]]]), joined.map(v => cost[v]), [window[0] * joined.length / n, window[1]], labels);
    return {...beside(laid, joined, alone), edges: kept};
  };
})();
