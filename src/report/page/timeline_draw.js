/* timeline_draw.js: draws a timeline on a canvas: ruler, names of rows, spans, numbers over time. */
const TL_RULER = 26;
const TL_COLORS = {
  active: 2,
  fetch: 4,
  barrier: 3,
  fence: 8,
  async: 5,
  memory: 0,
  'scalar memory': 5,
  export: 9,
  dependence: 1,
  unit: 6,
  sleep: 7,
  drain: 7,
  queue: 7,
  tags: 5,
  miss: 4,
  mshr: 9,
  network: 0,
  remote: 6,
  'l2 queue': 7,
  'l2 tags': 5,
  'l2 miss': 4,
  dram: 1,
  reply: 2,
  fill: 2,
  translation: 3,
  'l2 tlb': 6,
  'page walk': 8,
  'host walk': 8,
  link: 0,
  directory: 5,
  'page queue': 7,
  'far fault': 8,
  'page change': 3,
  grant: 2,
  shootdown: 8,
  pieces: 1,
  read: 0,
  write: 1,
  atomic: 3,
};
const TL_KINDS = {
  kernel: 0,
  copy: 6,
  group: 2,
  warp: 7,
  wave: 7,
  request: 0,
  service: 5,
  transfer: 4,
  message: 4,
  migration: 3,
};
const TL_AREAS = { kernel: 0, copy: 6, group: 2, warp: 0, wave: 0, request: 2, service: 5, message: 4, migration: 3 };

/* Colours of the page, again after a change between light and dark. */
function tlPalette(node) {
  const style = getComputedStyle(node),
    value = (name) => style.getPropertyValue(name).trim();
  const colors = [];
  for (let i = 0; i < 10; i++) colors.push(value('--c' + i));
  return {
    colors,
    bg: value('--bg'),
    fg: value('--fg'),
    quiet: value('--quiet'),
    rule: value('--rule'),
    panel: value('--panel'),
    track: value('--track'),
    on: value('--on'),
    link: value('--link'),
  };
}

/* A number of a colour for each text. Kernels take turns, so that neighbours differ; grey is left out. */
function tlColorNumbers(t) {
  const turns = [0, 1, 2, 3, 6, 4, 5, 8];
  let kernels = 0,
    others = 0;
  return t.labels.map((label) => {
    if (label.kind === 'kernel') return turns[kernels++ % turns.length];
    if (label.part === 'whole' && (label.kind === 'warp' || label.kind === 'group' || label.kind === 'copy'))
      return TL_KINDS[label.kind];
    return label.text in TL_COLORS ? TL_COLORS[label.text] : turns[others++ % turns.length];
  });
}
/* A work-group has the colour of its kernel. */
function tlColorOf(view, i) {
  const t = view.t,
    parent = t.parent[i];
  return view.numbers[parent >= 0 && t.labels[t.label[i]].kind === 'group' ? t.label[parent] : t.label[i]];
}

/* Times of the ruler: 1, 2 or 5 times a power of ten, at least so many pixels apart. */
function tlStep(ps, pixels, apart) {
  const least = (ps / pixels) * apart,
    power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
  return [1, 2, 5, 10].find((f) => f * power >= least) * power;
}
/* As many digits as neighbours on the ruler need. */
function tlTime(ps, step) {
  const units = [
    ['ps', 1],
    ['ns', 1e3],
    ['µs', 1e6],
    ['ms', 1e9],
    ['s', 1e12],
  ];
  if (ps === 0 && !step) return '0' + nbsp + 'ns';
  const size = Math.abs(ps) || step || 1;
  let [name, factor] = units[0];
  for (const [n, f] of units) if (size >= f) [name, factor] = [n, f];
  const digits = step
    ? Math.max(0, Math.min(9, -Math.floor(Math.log10(step / factor) + 1e-9)))
    : ps / factor >= 100
      ? 1
      : 3;
  return (ps / factor).toFixed(digits) + nbsp + name;
}

/* ------------------------------------------------------------------------------------------------ one row */

/* Neighbouring columns of one colour become one rectangle. Narrow nodes are fainter the less of their time is used. */
function tlDrawDepth(view, depth, y, height) {
  const { t, context: g, gutter, from, scale, width } = view,
    levels = tlPyramid(t, depth),
    until = from + (width - gutter) / scale;
  let run = null;
  const flush = () => {
    if (!run) return;
    g.globalAlpha = run.alpha;
    g.fillStyle = view.palette.colors[run.color];
    g.fillRect(run.x, y, run.right - run.x, height);
    run = null;
  };
  const emit = (x0, x1, span, busy) => {
    const color = tlColorOf(view, span);
    let alpha = busy > 0.85 ? 1 : busy > 0.5 ? 0.75 : busy > 0.2 ? 0.55 : 0.35;
    if (view.search && !view.search.marks[span]) alpha = 0.15;
    const x = gutter + Math.max(0, x0),
      right = gutter + Math.min(width - gutter, x1);
    view.drawn++;
    if (run && run.color === color && run.alpha === alpha && x - run.right < 0.5) {
      run.right = Math.max(run.right, right);
      return;
    }
    if (run && right <= run.right) return;
    flush();
    run = { x, right: Math.max(right, x + 1), color, alpha };
  };
  const wide = [];
  const visit = (level, i) => {
    const isSpan = level < 0,
      at = levels[level],
      begin = isSpan ? t.begin[i] : at.begin[i],
      end = isSpan ? t.end[i] : at.end[i];
    if (end < from || begin > until) return;
    const x0 = (begin - from) * scale,
      x1 = (end - from) * scale;
    if (isSpan) {
      const gap = x1 - x0 > 4 ? 1 : 0;
      emit(x0, x1 - gap, i, 1);
      if (gap) flush();
      if (x1 - x0 > 28) wide.push(i);
      return;
    }
    if (x1 - x0 < 1.5) {
      emit(x0, x1, at.span[i], at.busy[i] / (end - begin || 1));
      return;
    }
    const base = level > 0 ? 0 : depth.from,
      count = level > 0 ? levels[level - 1].begin.length : depth.count;
    for (let c = i * TL_FAN, stop = Math.min(count, c + TL_FAN); c < stop; c++) visit(level - 1, base + c);
  };
  if (!levels.length) for (let i = 0; i < depth.count; i++) visit(-1, depth.from + i);
  else {
    const top = levels.length - 1;
    for (let i = 0; i < levels[top].begin.length; i++) visit(top, i);
  }
  flush();
  g.globalAlpha = 1;
  if (height >= 11) for (const i of wide) tlText(view, i, y, height);
}
function tlText(view, i, y, height) {
  const { t, context: g, gutter, from, scale, width } = view;
  const x0 = Math.max(gutter, gutter + (t.begin[i] - from) * scale),
    x1 = Math.min(width, gutter + (t.end[i] - from) * scale);
  if (x1 - x0 < 28) return;
  if (view.search && !view.search.marks[i]) return;
  g.save();
  g.beginPath();
  g.rect(x0 + 2, y, x1 - x0 - 4, height);
  g.clip();
  g.fillStyle = view.palette.on;
  g.fillText(
    t.labels[t.label[i]].kind === 'kernel' ? shortName(tlName(t, i)) : tlName(t, i),
    x0 + 4,
    y + height / 2 + 0.5,
  );
  g.restore();
}

/* --------------------------------------------------------------------------------------- numbers over time */

function tlDrawArea(view, y, height, color, peak, mean) {
  const { context: g, gutter, from, scale, width } = view;
  if (!(peak > 0)) return;
  g.fillStyle = view.palette.colors[color];
  g.globalAlpha = 0.8;
  g.beginPath();
  g.moveTo(gutter, y + height);
  for (let x = gutter; x < width; x++) {
    const value = Math.min(1, mean(from + (x - gutter) / scale, from + (x + 1 - gutter) / scale) / peak),
      top = y + height - value * height;
    g.lineTo(x, top);
    g.lineTo(x + 1, top);
  }
  g.lineTo(width, y + height);
  g.fill();
  g.globalAlpha = 1;
}
function tlDrawDensity(view, node, y, height) {
  const density = (node.density = node.density || tlDensity(view.t, tlDensityRows(node)));
  let before = density.until(view.from);
  tlDrawArea(view, y, height, TL_AREAS[tlDensityRows(node)[0].word] || 0, density.peak, (from, to) => {
    const now = density.until(to),
      value = (now - before) / (to - from);
    before = now;
    return value;
  });
}
/* A block shows its most telling kind: what runs on it, or else what it serves. */
function tlDensityRows(node) {
  if (node.densityRows) return node.densityRows;
  const order = ['kernel', 'warp', 'wave', 'group', 'copy', 'migration', 'message', 'service', 'request'];
  const word = order.find((w) => node.rows.some((r) => r.word === w));
  return (node.densityRows = node.rows.filter((r) => r.word === word));
}
function tlDrawCounter(view, counter, y, height) {
  let at = 0;
  const { times, values } = counter;
  tlDrawArea(view, y, height, 1, counter.peak, (from, to) => {
    while (at + 1 < times.length && times[at + 1] <= from) at++;
    let most = times.length && times[at] <= to ? values[at] : 0;
    for (let k = at + 1; k < times.length && times[k] < to; k++) most = Math.max(most, values[k]);
    return most;
  });
}

/* --------------------------------------------------------------------------------------------------- frame */

function tlDrawRuler(view) {
  const { context: g, palette: p, gutter, from, scale, width, height } = view;
  const visible = (width - gutter) / scale,
    step = tlStep(visible, width - gutter, 90);
  g.fillStyle = p.bg;
  g.fillRect(0, 0, width, TL_RULER);
  g.strokeStyle = p.rule;
  g.fillStyle = p.quiet;
  g.beginPath();
  for (let at = Math.ceil(from / step) * step; at <= from + visible; at += step) {
    const x = Math.round(gutter + (at - from) * scale) + 0.5;
    g.moveTo(x, TL_RULER - 6);
    g.lineTo(x, height);
    if (x < width - 40) g.fillText(tlTime(at, step), x + 3, TL_RULER / 2);
  }
  g.moveTo(0, TL_RULER - 0.5);
  g.lineTo(width, TL_RULER - 0.5);
  g.moveTo(gutter - 0.5, 0);
  g.lineTo(gutter - 0.5, height);
  g.stroke();
  g.fillText(tlTime(visible, 0) + ' shown', 6, TL_RULER / 2);
  if (!view.search) return;
  g.fillStyle = p.colors[8];
  const every = Math.max(1, Math.floor(view.search.found.length / 4000));
  for (let i = 0; i < view.search.found.length; i += every) {
    const x = gutter + (view.t.begin[view.search.found[i]] - from) * scale;
    if (x >= gutter && x <= width) g.fillRect(x, TL_RULER - 5, 1.5, 5);
  }
}
const tlPlural = (word) => (word === 'copy' ? 'copies' : word + 's');
function tlDrawName(view, entry, y) {
  const { context: g, palette: p, gutter } = view,
    { node, level, height } = entry,
    x = 6 + 12 * level,
    isGroup = node.type !== 'lane' && node.type !== 'counter';
  g.fillStyle = node === view.cursor ? p.track : node.type === 'process' ? p.panel : p.bg;
  g.fillRect(0, y, gutter - 1, height);
  g.save();
  g.beginPath();
  g.rect(0, y, gutter - 4, height);
  g.clip();
  g.fillStyle = node.type === 'lane' || node.type === 'counter' ? p.quiet : p.fg;
  const middle = y + height / 2 + 0.5;
  if (isGroup) g.fillText(node.isOpen ? '▾' : '▸', x, middle);
  const only = node.type === 'block' && node.children.length === 1 ? node.children[0].name : '',
    word = only && only !== 'service' ? ', ' + tlPlural(only) : '',
    lanes = (node.type === 'kind' || only) && node.rows.length > 1 ? ' × ' + node.rows.length : '';
  const unit = node.type === 'counter' ? ', to ' + count(node.counter.peak) + ' ' + node.counter.unit : '';
  g.font = (node.type === 'process' ? '600 ' : '') + view.font;
  g.fillText(
    (node.type === 'kind' ? tlPlural(node.name) : node.name) + word + lanes + unit,
    x + (isGroup ? 14 : 0),
    middle,
  );
  g.font = view.font;
  g.restore();
}
function tlDrawEntry(view, entry) {
  const { context: g, palette: p, width } = view,
    y = TL_RULER + entry.y - view.top,
    { node, height } = entry;
  if (node.type === 'process') {
    g.fillStyle = p.panel;
    g.fillRect(view.gutter, y, width - view.gutter, height);
  }
  if (node.type === 'lane') {
    const [outer, inner] = node.row.depths;
    if (inner.count) {
      tlDrawDepth(view, outer, y + 1, 5);
      tlDrawDepth(view, inner, y + 7, height - 9);
    } else tlDrawDepth(view, outer, y + 1, height - 3);
  } else if (node.type === 'counter') tlDrawCounter(view, node.counter, y + 3, height - 5);
  else if (!node.isOpen && node.rows.length) tlDrawDensity(view, node, y + 3, height - 5);
  else if (!node.isOpen && node.counters.length) tlDrawCounter(view, node.counters[0], y + 3, height - 5);
  tlDrawName(view, entry, y);
  g.fillStyle = p.rule;
  g.globalAlpha = 0.6;
  g.fillRect(0, y + height - 1, width, 1);
  g.globalAlpha = 1;
}
/* The chosen span, and with dashes its parts in other blocks and the span that it is a part of. */
function tlDrawSelection(view) {
  if (view.selected < 0) return;
  const { t, selected, context: g } = view;
  const others = tlParts(t, selected).slice(0, 500);
  if (t.parent[selected] >= 0) others.push(t.parent[selected]);
  g.setLineDash([4, 3]);
  for (const i of others) tlDrawOutline(view, i);
  g.setLineDash([]);
  tlDrawOutline(view, selected);
}
function tlDrawOutline(view, i) {
  const { context: g, palette: p, gutter, from, scale, width } = view,
    entry = view.layout.byRow.get(view.t.rowOf[i]);
  const x0 = Math.max(gutter, gutter + (view.t.begin[i] - from) * scale),
    x1 = Math.min(width, gutter + (view.t.end[i] - from) * scale);
  if (!entry || x1 < gutter || x0 > width) return;
  g.strokeStyle = p.fg;
  g.lineWidth = 2;
  g.strokeRect(x0 - 1, TL_RULER + entry.y - view.top, Math.max(3, x1 - x0 + 1), entry.height - 1);
  g.lineWidth = 1;
}
/* The whole canvas; returns the milliseconds that it took. */
function tlDraw(view) {
  const start = performance.now(),
    { context: g, palette: p, width, height } = view;
  g.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  g.font = view.font;
  g.textBaseline = 'middle';
  g.fillStyle = p.bg;
  g.fillRect(0, 0, width, height);
  view.drawn = 0;
  tlDrawRuler(view);
  g.save();
  g.beginPath();
  g.rect(0, TL_RULER, width, height - TL_RULER);
  g.clip();
  for (const entry of view.layout.list)
    if (entry.y + entry.height > view.top && entry.y < view.top + height) tlDrawEntry(view, entry);
  tlDrawSelection(view);
  g.restore();
  return (view.milliseconds = performance.now() - start);
}
