/* timeline_data.js: the spans of a timeline: columns of numbers become typed arrays, rows a tree, and each row a pyramid
 * whose levels stand for 8, 64, 512... spans, so that drawing costs what the screen shows and not what the run had. */
const TL_FAN = 8;

/* Numbers with seven bits per byte, the lowest first. Those of 2^53 and more lose their last digits. */
function tlReader(base64) {
  const text = atob(base64),
    data = new Uint8Array(text.length);
  for (let i = 0; i < data.length; i++) data[i] = text.charCodeAt(i);
  let at = 0;
  const next = () => {
    let byte = data[at++],
      value = byte & 127,
      scale = 128;
    while (byte > 127) {
      byte = data[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    }
    return value;
  };
  const nextSigned = () => {
    const value = next();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  };
  return { next, nextSigned };
}

function tlDecode(raw) {
  const n = raw.spans,
    column = (name) => tlReader(raw.columns[name]);
  const gap = column('gap'),
    length = column('length'),
    labelIn = column('label'),
    numberIn = column('numbers'),
    valueIn = column('value'),
    parentIn = column('parent');
  const t = {
    n,
    leftOut: raw.left_out,
    kinds: raw.kinds,
    labels: raw.labels.map(([text, kind, part, numbers, value, isAddress, hasParent]) => ({
      text,
      kind: raw.kinds[kind],
      part: ['whole', 'state', 'stage', 'service'][part],
      numbers,
      value,
      isAddress,
      hasParent,
    })),
    begin: new Float64Array(n),
    end: new Float64Array(n),
    label: new Uint32Array(n),
    numbers: new Uint32Array(2 * n),
    value: new Float64Array(n),
    parent: new Int32Array(n).fill(-1),
    rowOf: new Uint32Array(n),
    first: Infinity,
    last: raw.end_ps,
  };
  let i = 0;
  t.rows = raw.rows.map(([process, block, word, name, outer, inner], number) => {
    const row = { process, block, word, name, number, depths: [], start: i };
    let value = 0;
    for (const count of [outer, inner]) {
      let end = 0;
      row.depths.push({ from: i, count, levels: null });
      for (const stop = i + count; i < stop; i++) {
        const label = t.labels[(t.label[i] = labelIn.next())];
        t.begin[i] = end + gap.nextSigned();
        end = t.end[i] = t.begin[i] + length.next();
        t.rowOf[i] = number;
        for (let k = 0; k < label.numbers; k++) t.numbers[2 * i + k] = numberIn.next();
        if (label.value !== null) t.value[i] = value += valueIn.nextSigned();
        if (label.hasParent) {
          const distance = parentIn.nextSigned();
          if (distance) t.parent[i] = i - distance;
        }
      }
      if (count) {
        t.first = Math.min(t.first, t.begin[row.depths[row.depths.length - 1].from]);
        t.last = Math.max(t.last, end);
      }
    }
    return row;
  });
  if (!isFinite(t.first)) t.first = 0;
  t.counters = raw.counters.map((c) => {
    const points = tlReader(c.points),
      times = new Float64Array(c.count),
      values = new Float64Array(c.count);
    for (let k = 0, at = 0; k < c.count; k++) {
      times[k] = at += points.next();
      values[k] = points.next() / 1000;
    }
    return {
      process: c.process,
      block: c.block,
      name: c.name,
      unit: c.unit,
      times,
      values,
      peak: values.reduce((a, b) => Math.max(a, b), 0),
    };
  });
  return t;
}

function tlName(t, i) {
  const label = t.labels[t.label[i]];
  let k = 0;
  return label.numbers ? label.text.replace(/#/g, () => t.numbers[2 * i + k++]) : label.text;
}
function tlRowName(row) {
  return row.process + '.' + row.block + ', ' + row.name;
}
function tlValue(t, i) {
  const label = t.labels[t.label[i]];
  if (label.value === null) return null;
  return [
    label.value,
    label.isAddress
      ? '0x' + t.value[i].toString(16)
      : label.value === 'bytes'
        ? count(t.value[i]) + nbsp + 'B'
        : count(t.value[i]),
  ];
}

/* ----------------------------------------------------------------------------------------------- pyramids */

/* Each node has its begin, its end, the share of that time with a span, and the longest span of the most common text. */
function tlPyramid(t, depth) {
  if (depth.levels) return depth.levels;
  depth.levels = [];
  let below = null;
  for (let count = depth.count; count > TL_FAN;) {
    const size = Math.ceil(count / TL_FAN);
    const level = {
      begin: new Float64Array(size),
      end: new Float64Array(size),
      busy: new Float64Array(size),
      span: new Uint32Array(size),
    };
    const texts = new Uint32Array(TL_FAN),
      times = new Float64Array(TL_FAN),
      longest = new Float64Array(TL_FAN),
      spans = new Uint32Array(TL_FAN);
    for (let k = 0; k < size; k++) {
      let used = 0,
        busy = 0,
        begin = 0,
        end = 0;
      for (let c = k * TL_FAN, stop = Math.min(count, c + TL_FAN), isFirst = true; c < stop; c++, isFirst = false) {
        const span = below ? below.span[c] : depth.from + c,
          b = below ? below.begin[c] : t.begin[span],
          e = below ? below.end[c] : t.end[span],
          own = below ? below.busy[c] : e - b,
          text = t.label[span];
        if (isFirst) begin = b;
        end = Math.max(end, e);
        busy += own;
        let at = 0;
        while (at < used && texts[at] !== text) at++;
        if (at === used) {
          texts[used] = text;
          times[used] = 0;
          longest[used++] = -1;
        }
        times[at] += own;
        if (own > longest[at]) {
          longest[at] = own;
          spans[at] = span;
        }
      }
      let best = 0;
      for (let at = 1; at < used; at++) if (times[at] > times[best]) best = at;
      level.begin[k] = begin;
      level.end[k] = end;
      level.busy[k] = busy;
      level.span[k] = spans[best];
    }
    depth.levels.push(level);
    below = level;
    count = size;
  }
  return depth.levels;
}

/* The first span of a depth that ends after this time. */
function tlFirstAfter(t, depth, time) {
  let low = depth.from,
    high = depth.from + depth.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (t.end[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* ------------------------------------------------------------------------------- how many at once, over time */

/* Begins and ends in order, with sums: the mean number of open spans in any interval comes from four look-ups. */
function tlDensity(t, rows) {
  const total = rows.reduce((sum, row) => sum + row.depths[0].count, 0);
  const sorted = (from) => {
    const all = new Float64Array(total),
      sums = new Float64Array(total + 1);
    let at = 0;
    for (const row of rows) {
      const { from: start, count } = row.depths[0];
      all.set(from.subarray(start, start + count), at);
      at += count;
    }
    all.sort();
    for (let i = 0; i < total; i++) sums[i + 1] = sums[i] + (all[i] - t.first);
    return { all, sums };
  };
  const begins = sorted(t.begin),
    ends = sorted(t.end);
  const area = ({ all, sums }, time) => {
    let low = 0,
      high = total;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (all[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low * (time - t.first) - sums[low];
  };
  let peak = 0;
  for (let b = 0, e = 0; b < total; b++) {
    while (ends.all[e] <= begins.all[b]) e++;
    peak = Math.max(peak, b + 1 - e);
  }
  return { peak, until: (time) => area(begins, time) - area(ends, time) };
}

/* --------------------------------------------------------------------------------------------------- tree */

/* Processes, their blocks, the kinds of lanes of a block, lanes. A block with one kind has its lanes directly. */
function tlTree(t) {
  const roots = [],
    find = (list, type, name, parent) => {
      let node = list.find((n) => n.name === name);
      if (!node)
        list.push((node = { type, name, parent, children: [], rows: [], counters: [], isOpen: false, density: null }));
      return node;
    };
  for (const row of t.rows) {
    const process = find(roots, 'process', row.process, null),
      block = find(process.children, 'block', row.block, process),
      kind = find(block.children, 'kind', row.word, block);
    for (const node of [process, block, kind]) node.rows.push(row);
    kind.children.push((row.node = { type: 'lane', name: row.name, parent: kind, children: [], rows: [row], row }));
  }
  for (const counter of t.counters) {
    const process = find(roots, 'process', counter.process, null),
      block = find(process.children, 'block', counter.block, process);
    block.counters.push(counter);
  }
  for (const process of roots) {
    process.isOpen = true;
    for (const block of process.children) {
      block.isOpen = block.children.some((k) => k.name === 'kernel' || k.name === 'copy');
      for (const kind of block.children)
        kind.isOpen = kind.name !== 'request' && kind.name !== 'service' && kind.name !== 'message';
    }
  }
  return roots;
}
/* The rows that are shown, from top to bottom. */
function tlLayout(roots) {
  const list = [],
    byRow = new Map();
  let y = 0;
  const push = (node, level, height) => {
    list.push({ node, level, y, height });
    if (node.row) byRow.set(node.row.number, list[list.length - 1]);
    y += height;
  };
  const visit = (node, level) => {
    push(node, level, node.type === 'lane' ? (node.row.depths[1].count ? 22 : 16) : node.type === 'process' ? 24 : 26);
    if (node.type === 'lane' || !node.isOpen) return;
    for (const counter of node.counters)
      push({ type: 'counter', name: counter.name, parent: node, counter }, level + 1, 30);
    const only = node.type === 'block' && node.children.length === 1;
    for (const child of only ? node.children[0].children : node.children) visit(child, level + 1);
  };
  for (const root of roots) visit(root, 0);
  return { list, byRow, height: y };
}

/* ------------------------------------------------------------------------------------------------- search */

/* Spans whose name, row or address has the text: marks of all, and the first hundred thousand in the order of time. */
function tlSearch(t, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return null;
  const marks = new Uint8Array(t.n),
    found = [];
  const byLabel = t.labels.map((l) => (l.numbers ? -1 : l.text.toLowerCase().includes(wanted) ? 1 : 0));
  const address = /^0x[0-9a-f]+$/.test(wanted) ? parseInt(wanted, 16) : NaN;
  const byRow = t.rows.map((r) => (r.process + '.' + r.block + ' ' + r.name).toLowerCase().includes(wanted));
  let total = 0;
  for (let i = 0; i < t.n; i++) {
    const hit = byLabel[t.label[i]];
    if (!(
      hit === 1 ||
      byRow[t.rowOf[i]] ||
      (hit === -1 && tlName(t, i).toLowerCase().includes(wanted)) ||
      (t.value[i] === address && t.labels[t.label[i]].isAddress)
    ))
      continue;
    marks[i] = 1;
    total++;
    if (found.length < 100000) found.push(i);
  }
  found.sort((a, b) => t.begin[a] - t.begin[b] || a - b);
  return { marks, found, total, at: -1 };
}
