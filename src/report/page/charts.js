/* charts.js: charts as SVG. Colours are those of the style sheet (--c0 to --c9), which has them for light and dark pages;
 * every chart also has its numbers in words (core.js: figure). */
const WIDTH = 720;
function svg(width, height, label, ...children) {
  const id = newId('chart');
  return svgEl(
    'svg',
    {
      viewBox: '0 0 ' + width + ' ' + height,
      role: 'img',
      'aria-labelledby': id,
      style: 'max-width:' + Math.round(width * 1.2) + 'px;min-width:' + Math.min(width, 460) + 'px',
    },
    svgEl('title', { id }, label),
    ...children,
  );
}
const text = (x, y, words, cls) => svgEl('text', { x, y, class: cls || null }, words);
const line = (x1, y1, x2, y2, cls) => svgEl('line', { x1, y1, x2, y2, class: cls });
function rect(x, y, width, height, color, title) {
  return svgEl(
    'rect',
    { x, y, width: Math.max(0, width), height: Math.max(0, height), style: 'fill:var(--' + color + ')' },
    title ? svgEl('title', null, title) : null,
  );
}
/* Four or five round steps from 0 to max. */
function ticks(max) {
  if (!(max > 0)) return [0, 1];
  const raw = max / 4,
    base = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 2.5, 5, 10].map((f) => f * base).find((s) => s >= raw * 0.999);
  const out = [];
  for (let x = 0; x < max + step * 0.999; x += step) out.push(x);
  return out;
}

/* Bars, each with its name and value: rows of {name, value, label, color, help}. max: the length of the whole axis. */
function barChart(label, rows, max) {
  const left = 190,
    right = 90,
    row = 24,
    width = WIDTH;
  const most = max || Math.max(...rows.map((r) => r.value), 1e-30);
  return svg(
    width,
    rows.length * row + 6,
    label,
    rows.map((r, i) => {
      const y = i * row + 4,
        long = (width - left - right) * Math.min(1, r.value / most);
      return svgEl(
        'g',
        null,
        svgEl('title', null, r.name + ': ' + r.label + (r.help ? ', ' + r.help : '')),
        text(left - 8, y + 13, r.name, 'end'),
        max ? rect(left, y, width - left - right, row - 7, 'track') : null,
        rect(left, y, long, row - 7, 'c' + (r.color ?? 0)),
        text(left + (max ? width - left - right : long) + 6, y + 13, r.label),
      );
    }),
  );
}

/* One bar of parts that add up to a whole. */
function stackBar(label, parts) {
  const height = 34;
  let x = 0;
  return svg(
    WIDTH,
    height,
    label,
    parts.map((p) => {
      const at = x,
        long = WIDTH * p.share;
      x += long;
      return svgEl(
        'g',
        { class: 'seg' },
        rect(at, 2, long, height - 4, 'c' + p.color, p.name + ': ' + percent(p.share)),
        long > 60 ? text(at + long / 2, 22, percent(p.share, 0), 'middle on') : null,
      );
    }),
  );
}

/* Values over time: stacked areas, or lines. columns: [{name, color, values}], one value per interval. */
function timeChart(label, columns, every, options = {}) {
  const left = 58,
    right = 12,
    top = 10,
    bottom = 34,
    height = 230,
    n = Math.max(...columns.map((c) => c.values.length));
  const max =
    options.max ||
    Math.max(
      1e-30,
      ...(options.stack
        ? Array.from({ length: n }, (_, i) => sum(columns.map((c) => c.values[i])) || 0)
        : columns.flatMap((c) => c.values.filter(isNumber))),
    );
  const x = (i) => left + ((WIDTH - left - right) * i) / n,
    y = (v) => top + (height - top - bottom) * (1 - Math.min(1, v / max));
  const format = options.format || si;
  const below = new Array(n).fill(0),
    shapes = [];
  columns.forEach((c) => {
    if (options.stack) {
      const up = [],
        down = [];
      for (let i = 0; i < n; i++) {
        const from = below[i],
          to = from + (isNumber(c.values[i]) ? c.values[i] : 0);
        up.push(x(i).toFixed(1) + ',' + y(to).toFixed(1), x(i + 1).toFixed(1) + ',' + y(to).toFixed(1));
        down.push(x(i).toFixed(1) + ',' + y(from).toFixed(1), x(i + 1).toFixed(1) + ',' + y(from).toFixed(1));
        below[i] = to;
      }
      const back = [];
      for (let i = n - 1; i >= 0; i--) back.push(down[2 * i + 1], down[2 * i]);
      shapes.push(
        svgEl(
          'polygon',
          { points: up.concat(back).join(' '), style: 'fill:var(--c' + c.color + ')' },
          svgEl('title', null, c.name),
        ),
      );
    } else {
      const points = c.values
        .map((v, i) => (isNumber(v) ? x(i + 0.5).toFixed(1) + ',' + y(v).toFixed(1) : null))
        .filter(Boolean);
      shapes.push(
        svgEl(
          'polyline',
          {
            points: points.join(' '),
            class: 'curve',
            style: 'stroke:var(--c' + c.color + ')' + (c.dash ? ';stroke-dasharray:' + c.dash : ''),
          },
          svgEl('title', null, c.name),
        ),
      );
    }
  });
  const axis = ticks(max)
    .filter((t) => t <= max * 1.001)
    .map((t) => [line(left, y(t), WIDTH - right, y(t), 'grid'), text(left - 6, y(t) + 4, format(t), 'end')]);
  const times = [0, 0.25, 0.5, 0.75, 1].map((f) =>
    text(
      x(n * f),
      height - 14,
      time((options.from || 0) + every * n * f),
      f === 0 ? null : f === 1 ? 'end' : 'middle',
    ),
  );
  return svg(WIDTH, height, label, axis, shapes, line(left, y(0), WIDTH - right, y(0), 'axis'), times);
}

/* Kernels as bars on one row per GPU and stream. */
function kernelStrip(label, result, onPick) {
  const k = result.kernels,
    rows = new Map();
  k.id.forEach((_, i) => {
    if (k.side[i] !== 2) rows.set(k.gpu[i] * 1e6 + k.stream[i], null);
  });
  const keys = [...rows.keys()].sort((a, b) => a - b).slice(0, 24);
  const left = 124,
    row = 26,
    height = keys.length * row + 28,
    end = Math.max(result.end_ns, ...k.begin_ns.map((b, i) => b + k.ns[i]).slice(0, 1e5), 1);
  const x = (ns) => left + ((WIDTH - left - 10) * ns) / end;
  const pieces = keys.map((id, r) =>
    text(
      left - 8,
      r * row + 18,
      'GPU ' + Math.max(0, Math.floor(id / 1e6)) + ', stream ' + Math.max(0, id % 1e6),
      'end',
    ),
  );
  /* Those that are narrower than half a pixel are left out: the longest first. */
  const order = k.id
    .map((_, i) => i)
    .sort((a, b) => k.ns[b] - k.ns[a])
    .slice(0, 2000);
  for (const i of order) {
    const r = keys.indexOf(k.gpu[i] * 1e6 + k.stream[i]),
      wide = x(k.begin_ns[i] + k.ns[i]) - x(k.begin_ns[i]);
    if (r < 0 || k.side[i] === 2 || (wide < 0.3 && order.length > 200)) continue;
    const bar = rect(
      x(k.begin_ns[i]),
      r * row + 4,
      Math.max(0.6, wide - 0.4),
      row - 8,
      'c' + (k.name[i] % 7),
      k.id[i] + ' ' + nameOf(result, i) + ': ' + time(k.ns[i]),
    );
    bar.addEventListener('click', () => onPick(i));
    pieces.push(bar);
  }
  const marks = ticks(end)
    .filter((t) => t <= end)
    .map((t) => [line(x(t), 0, x(t), height - 24, 'grid'), text(x(t), height - 8, time(t), 'middle')]);
  return svg(WIDTH, height, label, marks, pieces);
}

/* Arithmetic intensity and rate on logarithmic axes. roofs: {flops: [[name, GFLOP/s]], bytes: [[name, GB/s, color]]}; points:
 * [{name, intensity, flops, color}]. */
function roofline(label, roofs, points) {
  const left = 62,
    right = 20,
    top = 28,
    bottom = 40,
    height = 330;
  const peak = Math.max(...roofs.flops.map((f) => f[1])),
    least = Math.min(...points.map((p) => p.flops), peak / 1e3);
  const xs = points.map((p) => p.intensity).concat(roofs.bytes.map((b) => peak / b[1]));
  const x0 = Math.floor(Math.log10(Math.min(...xs) / 3)),
    x1 = Math.ceil(Math.log10(Math.max(...xs) * 3));
  const y0 = Math.floor(Math.log10(least / 1.5)),
    y1 = Math.ceil(Math.log10(peak * 1.2));
  const x = (v) => left + ((WIDTH - left - right) * (Math.log10(v) - x0)) / (x1 - x0);
  const y = (v) => top + (height - top - bottom) * (1 - (Math.log10(v) - y0) / (y1 - y0));
  const grid = [];
  for (let e = x0; e <= x1; e++)
    grid.push(
      line(x(10 ** e), top, x(10 ** e), height - bottom, 'grid'),
      text(x(10 ** e), height - bottom + 16, e >= -2 && e <= 3 ? String(+(10 ** e).toFixed(2)) : '1e' + e, 'middle'),
    );
  for (let e = y0; e <= y1; e++)
    grid.push(
      line(left, y(10 ** e), WIDTH - right, y(10 ** e), 'grid'),
      text(left - 6, y(10 ** e) + 4, si(10 ** e * 1e9), 'end'),
    );
  const lines = roofs.flops.map(([name, f], i) =>
    svgEl(
      'g',
      null,
      line(x(Math.max(10 ** x0, f / Math.max(...roofs.bytes.map((b) => b[1])))), y(f), WIDTH - right, y(f), 'roof'),
      text(WIDTH - right - 4, y(f) - 5, name + ' ' + si(f * 1e9) + 'FLOP/s', 'end'),
    ),
  );
  for (const [name, b, color] of roofs.bytes) {
    const from = Math.max(10 ** x0, 10 ** y0 / b),
      to = peak / b;
    const l = line(x(from), y(from * b), x(to), y(peak), 'roof');
    l.setAttribute('style', 'stroke:var(--c' + color + ')');
    const at = Math.sqrt(from * to),
      angle = (-Math.atan2(y(at * b) - y(at * b * 10), x(at * 10) - x(at)) * 180) / Math.PI;
    lines.push(
      l,
      svgEl(
        'text',
        {
          x: x(at),
          y: y(at * b) - 6,
          class: 'middle',
          transform: 'rotate(' + angle.toFixed(1) + ' ' + x(at).toFixed(1) + ' ' + (y(at * b) - 6).toFixed(1) + ')',
        },
        name + ' ' + rate(b),
      ),
    );
  }
  const dots = points.map((p, at) => {
    const dot = svgEl(
      'g',
      null,
      svgEl('title', null, p.name + ': ' + count(p.intensity) + ' FLOP/B, ' + si(p.flops * 1e9) + 'FLOP/s'),
      svgEl('circle', {
        cx: x(p.intensity),
        cy: y(p.flops),
        r: p.small ? 3.5 : 6,
        style: 'fill:var(--c' + p.color + ')',
        class: 'dot',
      }),
    );
    if (p.text) dot.append(text(x(p.intensity) + 9, y(p.flops) + [20, -8, 4][at % 3], p.text, 'halo'));
    return dot;
  });
  return svg(
    WIDTH,
    height,
    label,
    grid,
    lines,
    dots,
    text((left + WIDTH) / 2, height - 6, 'FLOP per byte', 'middle'),
    text(4, 11, 'FLOP/s'),
  );
}

/* A histogram with buckets of powers of two. */
function histogram(label, buckets, unit, endOf) {
  const left = 60,
    bottom = 38,
    top = 18,
    height = 200,
    most = Math.max(...buckets.map((b) => b[1])),
    wide = Math.min(90, (WIDTH - left - 10) / buckets.length);
  const all = sum(buckets.map((b) => b[1])),
    y = (v) => top + (height - top - bottom) * (1 - v / most);
  return svg(
    WIDTH,
    height,
    label,
    ticks(most)
      .filter((t) => t <= most)
      .map((t) => [line(left, y(t), WIDTH - 10, y(t), 'grid'), text(left - 6, y(t) + 4, si(t), 'end')]),
    buckets.map(([least, n], i) => [
      rect(
        left + i * wide + 2,
        y(n),
        wide - 4,
        height - bottom - y(n),
        'c0',
        least + ' to ' + (endOf(least) - 1) + ' ' + unit + ': ' + count(n),
      ),
      text(left + (i + 0.5) * wide, height - bottom + 15, count(least), 'middle'),
      text(left + (i + 0.5) * wide, y(n) - 4, percent(n / all, 0), 'middle'),
    ]),
    text(left + (wide * buckets.length) / 2, height - 6, unit + ', from', 'middle'),
  );
}

/* A grid of cells from light to dark; the number stands in each that is large enough. cells: [[{value, label}]] by row. */
function heatMap(label, rowNames, columnNames, cells, max) {
  const left = 118,
    top = columnNames ? 30 : 6,
    columns = Math.max(...cells.map((r) => r.length)),
    wide = Math.max(9, Math.min(64, (WIDTH - left) / columns)),
    row = 26;
  const width = Math.max(WIDTH, left + wide * columns + 4);
  return svg(
    width,
    top + row * cells.length + 6,
    label,
    columnNames
      ? columnNames.map((n, i) =>
          wide > 30 || i % 4 === 0 ? text(left + (i + 0.5) * wide, 20, n, 'middle small') : null,
        )
      : null,
    cells.map((list, r) => [
      text(left - 8, top + r * row + 17, rowNames[r], 'end small'),
      list.map((c, i) => {
        if (!c) return null;
        const level = max > 0 ? Math.min(1, c.value / max) : 0;
        return svgEl(
          'g',
          null,
          svgEl('title', null, c.label),
          svgEl('rect', {
            x: left + i * wide + 1,
            y: top + r * row + 1,
            width: wide - 2,
            height: row - 2,
            class: 'heat',
            style: 'fill-opacity:' + (0.06 + 0.94 * level).toFixed(3),
          }),
          wide > 44 && c.short
            ? text(left + (i + 0.5) * wide, top + r * row + 17, c.short, 'middle small ' + (level > 0.55 ? 'on' : ''))
            : null,
        );
      }),
    ]),
  );
}

/* Each row of numbers is a line through its axes. axes: [{name, values, texts}]. */
function parallel(label, axes, colorOf, onPick) {
  const height = 300,
    top = 44,
    bottom = 26,
    left = 60,
    right = 70,
    n = axes[0].values.length;
  const x = (a) => left + (WIDTH - left - right) * (axes.length > 1 ? a / (axes.length - 1) : 0.5);
  const y = axes.map((axis) => {
    const lo = Math.min(...axis.values.filter(isNumber)),
      hi = Math.max(...axis.values.filter(isNumber));
    return (v) => top + (height - top - bottom) * (hi > lo ? 1 - (v - lo) / (hi - lo) : 0.5);
  });
  const lines = Array.from({ length: n }, (_, i) => {
    const l = svgEl(
      'polyline',
      {
        class: 'curve thin',
        points: axes.map((axis, a) => x(a).toFixed(1) + ',' + y[a](axis.values[i]).toFixed(1)).join(' '),
        style: 'stroke:var(--c' + colorOf(i) + ')',
        'data-point': i,
      },
      svgEl('title', null, axes.map((axis) => axis.name + ' ' + axis.texts[i]).join(', ')),
    );
    l.addEventListener('click', () => onPick(i));
    return l;
  });
  return svg(
    WIDTH,
    height,
    label,
    lines,
    axes.map((axis, a) => {
      const order = axis.values
        .map((v, i) => [v, axis.texts[i]])
        .filter((p) => isNumber(p[0]))
        .sort((p, q) => p[0] - q[0]);
      const marks = order.filter((p, i) => i === 0 || p[0] !== order[i - 1][0]);
      const shown = marks.length <= 6 ? marks : [marks[0], marks[marks.length - 1]];
      return svgEl(
        'g',
        null,
        line(x(a), top, x(a), height - bottom, 'axis'),
        text(
          a === 0 ? 4 : a === axes.length - 1 ? WIDTH - 4 : x(a),
          a % 2 ? 14 : 30,
          axis.name,
          a === 0 ? null : a === axes.length - 1 ? 'end' : 'middle',
        ),
        shown.map((m) => text(x(a) + 5, y[a](m[0]) + 4, m[1], 'halo')),
      );
    }),
  );
}

/* Two columns against each other, with the points that no other beats in both. */
function scatter(label, points, xName, yName, xText, yText, onPick) {
  const left = 70,
    right = 20,
    top = 26,
    bottom = 42,
    height = 310;
  const range = (list) => {
    const lo = Math.min(...list),
      hi = Math.max(...list),
      pad = (hi - lo || Math.abs(hi) || 1) * 0.06;
    return [lo - pad, hi + pad];
  };
  const [xa, xb] = range(points.map((p) => p.x)),
    [ya, yb] = range(points.map((p) => p.y));
  const x = (v) => left + ((WIDTH - left - right) * (v - xa)) / (xb - xa),
    y = (v) => top + (height - top - bottom) * (1 - (v - ya) / (yb - ya));
  const best = points.filter((p) => p.best).sort((a, b) => a.x - b.x || b.y - a.y);
  const steps = best.map((p) => x(p.x).toFixed(1) + ',' + y(p.y).toFixed(1)).join(' ');
  const marks = [0, 0.5, 1].map((f) => [
    text(
      x(xa + (xb - xa) * f),
      height - bottom + 18,
      xText(xa + (xb - xa) * f),
      f === 0 ? null : f === 1 ? 'end' : 'middle',
    ),
    text(left - 6, y(ya + (yb - ya) * f) + 4, yText(ya + (yb - ya) * f), 'end'),
  ]);
  return svg(
    WIDTH,
    height,
    label,
    line(left, height - bottom, WIDTH - right, height - bottom, 'axis'),
    line(left, top, left, height - bottom, 'axis'),
    marks,
    svgEl('polyline', { points: steps, class: 'curve', style: 'stroke:var(--c1)' }),
    points
      .slice()
      .sort((a, b) => a.best - b.best)
      .map((p) => {
        const dot = p.best
          ? svgEl('rect', {
              x: x(p.x) - 5,
              y: y(p.y) - 5,
              width: 10,
              height: 10,
              class: 'dot',
              style: 'fill:var(--c1)',
            })
          : svgEl('circle', { cx: x(p.x), cy: y(p.y), r: 5, class: 'dot', style: 'fill:var(--c0)' });
        dot.append(svgEl('title', null, p.name));
        dot.addEventListener('click', () => onPick(p.index));
        return dot;
      }),
    text((left + WIDTH) / 2, height - 6, xName, 'middle'),
    text(4, 11, yName),
  );
}
