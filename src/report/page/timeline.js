/* timeline.js: the section of a timeline: pan, zoom, search, details of a span, by mouse, touch and keys. */
const TL_HELP =
  'A closed row shows how many of its spans are open at once. Ctrl and wheel, wheel over the ruler, pinch, or W and S zoom. Drag, Shift and wheel, or A and D pan. ' +
  'Up and Down choose a row, Enter opens it, N and P go from span to span, F shows the chosen span, 0 the whole run, / searches.';

function timelineSection(raw) {
  const t = tlDecode(raw),
    roots = tlTree(t);
  const canvas = el('canvas', { 'aria-hidden': 'true' }),
    space = el('div', { class: 'tl-space' }, canvas),
    tip = el('div', { class: 'tl-tip', hidden: '' }),
    helpId = newId('tl-help');
  const box = el(
    'div',
    { class: 'tl-view', tabindex: '0', role: 'application', 'aria-label': tlAbout(t), 'aria-describedby': helpId },
    space,
  );
  const status = el('p', { class: 'note', role: 'status', 'aria-live': 'polite' });
  const panel = el(
    'div',
    { class: 'tl-details', 'aria-live': 'polite' },
    note('A click on a span shows its details here.'),
  );
  const view = {
    t,
    roots,
    canvas,
    box,
    tip,
    panel,
    status,
    context: canvas.getContext('2d'),
    numbers: tlColorNumbers(t),
    layout: tlLayout(roots),
    from: t.first,
    scale: 1,
    top: 0,
    width: 0,
    height: 0,
    gutter: 210,
    ratio: 1,
    font: '12px system-ui, sans-serif',
    cursor: null,
    selected: -1,
    search: null,
    milliseconds: 0,
    drawn: 0,
    isAsked: false,
  };
  view.ask = () => {
    if (view.isAsked) return;
    view.isAsked = true;
    requestAnimationFrame(() => {
      view.isAsked = false;
      tlDraw(view);
    });
  };
  tlWatchSize(view, space);
  tlPointer(view);
  tlKeys(view);
  const search = tlSearchBox(view);
  view.searchBox = search.input;
  window.lockstepTimeline = view; /* for tests and the console */
  const left = t.leftOut
    ? el(
        'p',
        { class: 'warning' },
        count(t.leftOut) +
          ' states, requests and stages that ended after the first million are left out. ' +
          '--timeline-filter (time, block, kernel, kind, every) chooses others.',
      )
    : null;
  return [
    el('p', null, tlAbout(t)),
    left,
    el('div', { class: 'tools' }, tlButtons(view), search.parts),
    el('div', { class: 'tl-frame' }, box, tip),
    el('p', { class: 'note', id: helpId }, TL_HELP),
    status,
    panel,
    tlLegend(view),
    tlNumbers(t),
  ];
}
function tlAbout(t) {
  const blocks = new Set(t.rows.map((r) => r.process + '.' + r.block)).size;
  return (
    'Timeline of ' +
    count(t.n) +
    ' spans in ' +
    count(blocks) +
    ' blocks, from ' +
    tlTime(t.first, 0) +
    ' to ' +
    tlTime(t.last, 0) +
    '.'
  );
}

/* -------------------------------------------------------------------------------------------- size and view */

function tlWatchSize(view, space) {
  const fit = () => {
    const width = view.box.clientWidth,
      wanted = Math.min(
        Math.max(260, view.layout.height + TL_RULER + 2),
        Math.max(300, Math.round(window.innerHeight * 0.7)),
      );
    if (!width) return;
    view.box.style.height = wanted + 'px';
    const isFirst = view.width === 0,
      visible = isFirst ? 0 : (view.width - view.gutter) / view.scale;
    view.gutter = width < 600 ? 110 : 210;
    view.width = width;
    view.height = view.box.clientHeight;
    view.ratio = window.devicePixelRatio || 1;
    view.canvas.width = Math.round(width * view.ratio);
    view.canvas.height = Math.round(view.height * view.ratio);
    view.canvas.style.width = width + 'px';
    view.canvas.style.height = view.height + 'px';
    space.style.height = view.layout.height + TL_RULER + 'px';
    if (isFirst) tlShow(view, view.t.first, view.t.last);
    else tlShow(view, view.from, view.from + visible);
    view.palette = tlPalette(view.box);
    tlDraw(view);
  };
  view.fit = fit;
  new ResizeObserver(fit).observe(view.box);
  for (const query of ['(prefers-color-scheme: dark)', 'print'])
    window.matchMedia(query).addEventListener('change', fit);
  view.box.addEventListener('scroll', () => {
    view.top = view.box.scrollTop;
    view.ask();
  });
}
/* From this time to that, inside of the run. At least a few picoseconds stay in view. */
function tlShow(view, from, to) {
  const { first, last } = view.t,
    room = Math.max(last - first, 1),
    span = Math.min(Math.max(to - from, 20), room * 1.02);
  const middle = (from + to) / 2;
  view.scale = (view.width - view.gutter) / span;
  view.from = Math.min(Math.max(middle - span / 2, first - room * 0.01), last + room * 0.01 - span);
  view.ask();
}
function tlZoom(view, factor, x) {
  const at = x === undefined ? (view.width - view.gutter) / 2 : Math.max(0, x - view.gutter),
    time = view.from + at / view.scale,
    span = (view.width - view.gutter) / view.scale / factor,
    from = time - (at / (view.width - view.gutter)) * span;
  tlShow(view, from, from + span);
}
function tlPan(view, pixels) {
  const span = (view.width - view.gutter) / view.scale;
  tlShow(view, view.from + pixels / view.scale, view.from + pixels / view.scale + span);
}
function tlToggle(view, node) {
  if (node.type === 'lane' || node.type === 'counter') return;
  node.isOpen = !node.isOpen;
  tlRelayout(view);
  view.status.textContent = node.name + (node.isOpen ? ' is open' : ' is closed');
}
function tlRelayout(view) {
  view.layout = tlLayout(view.roots);
  view.fit();
}
/* Opens what is around the row, and scrolls to it. */
function tlReveal(view, node) {
  for (let at = node.parent; at; at = at.parent) at.isOpen = true;
  tlRelayout(view);
  const entry = view.layout.list.find((e) => e.node === node);
  if (!entry) return;
  const room = view.height - TL_RULER;
  if (entry.y < view.box.scrollTop || entry.y + entry.height > view.box.scrollTop + room)
    view.box.scrollTop = Math.max(0, entry.y - room / 3);
  view.top = view.box.scrollTop;
  view.ask();
}

/* --------------------------------------------------------------------------------------------------- mouse */

function tlEntryAt(view, y) {
  const at = y - TL_RULER + view.top;
  return y < TL_RULER ? null : view.layout.list.find((e) => at >= e.y && at < e.y + e.height) || null;
}
/* The innermost span under a point; -1: none. A pixel of room makes short ones easy to hit. */
function tlSpanAt(view, x, y) {
  const entry = tlEntryAt(view, y);
  if (!entry || entry.node.type !== 'lane' || x < view.gutter) return -1;
  const t = view.t,
    [outer, inner] = entry.node.row.depths,
    isTop = y - TL_RULER + view.top - entry.y < 7;
  for (const depth of isTop || !inner.count ? [outer, inner] : [inner, outer]) {
    const time = view.from + (x - view.gutter) / view.scale,
      i = tlFirstAfter(t, depth, time - 1.5 / view.scale);
    if (i < depth.from + depth.count && t.begin[i] <= time + 1.5 / view.scale) return i;
  }
  return -1;
}
function tlPointer(view) {
  const { box, tip } = view,
    down = new Map();
  let moved = 0,
    spread = 0;
  const place = (e) => {
    const r = box.getBoundingClientRect();
    return [e.clientX - r.left, e.clientY - r.top];
  };
  box.addEventListener(
    'wheel',
    (e) => {
      const [x, y] = place(e);
      if (e.ctrlKey || e.metaKey || e.altKey || y < TL_RULER)
        tlZoom(view, Math.exp(-e.deltaY * (e.ctrlKey && Math.abs(e.deltaY) < 30 ? 0.02 : 0.003)), x);
      else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) tlPan(view, e.deltaX || e.deltaY);
      else return;
      e.preventDefault();
    },
    { passive: false },
  );
  box.addEventListener('pointerdown', (e) => {
    if (e.button > 0 || place(e)[0] > view.box.clientWidth) return;
    down.set(e.pointerId, place(e));
    moved = 0;
    spread = 0;
    if (e.pointerType === 'mouse') box.setPointerCapture(e.pointerId);
  });
  box.addEventListener('pointermove', (e) => {
    const [x, y] = place(e),
      before = down.get(e.pointerId);
    if (!before) {
      tlHover(view, x, y);
      return;
    }
    down.set(e.pointerId, [x, y]);
    moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
    if (down.size === 2) {
      const [a, b] = [...down.values()],
        now = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (spread) tlZoom(view, now / spread, (a[0] + b[0]) / 2);
      spread = now;
    } else if (down.size === 1 && moved > 4) {
      tlPan(view, before[0] - x);
      if (e.pointerType === 'mouse') box.scrollTop += before[1] - y;
    }
    tip.hidden = true;
  });
  box.addEventListener('pointerup', (e) => {
    const at = down.get(e.pointerId);
    down.delete(e.pointerId);
    if (at && moved <= 4) tlClick(view, ...place(e));
  });
  box.addEventListener('pointercancel', (e) => down.delete(e.pointerId));
  box.addEventListener('pointerleave', () => {
    tip.hidden = true;
  });
  box.addEventListener('dblclick', (e) => {
    const i = tlSpanAt(view, ...place(e));
    if (i >= 0) tlFocus(view, i);
  });
}
function tlClick(view, x, y) {
  const entry = tlEntryAt(view, y);
  if (!entry) return;
  view.cursor = entry.node;
  const i = tlSpanAt(view, x, y);
  if (i >= 0) tlSelect(view, i);
  else tlToggle(view, entry.node);
  view.ask();
}
function tlHover(view, x, y) {
  const i = tlSpanAt(view, x, y),
    { t, tip } = view;
  view.box.style.cursor = i >= 0 ? 'pointer' : x < view.gutter ? 'default' : 'grab';
  tip.hidden = i < 0;
  if (i < 0) return;
  const value = tlValue(t, i);
  tip.replaceChildren(
    el('b', null, tlName(t, i)),
    el('br'),
    tlTime(t.end[i] - t.begin[i], 0) + ' from ' + tlTime(t.begin[i], 0),
    el('br'),
    tlRowName(t.rows[t.rowOf[i]]) + (value ? ', ' + value.join(' ') : ''),
  );
  const isRight = x > view.width / 2;
  tip.style.left = isRight ? 'auto' : x + 14 + 'px';
  tip.style.right = isRight ? view.box.clientWidth - x + 14 + 'px' : 'auto';
  tip.style.top = Math.min(y + 14, view.height - 70) + 'px';
}

/* ---------------------------------------------------------------------------------------------------- keys */

function tlKeys(view) {
  const zoom = { w: 1.5, '+': 1.5, '=': 1.5, s: 1 / 1.5, '-': 1 / 1.5 },
    pan = { a: -80, ArrowLeft: -80, d: 80, ArrowRight: 80 };
  view.box.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
    if (key in zoom) tlZoom(view, zoom[key]);
    else if (key in pan) tlPan(view, pan[key] * (e.shiftKey ? 5 : 1));
    else if (key === 'ArrowDown' || key === 'ArrowUp') tlMoveCursor(view, key === 'ArrowDown' ? 1 : -1);
    else if (key === 'Enter' || key === ' ') tlEnter(view);
    else if (key === 'n' || key === 'p') tlNeighbour(view, key === 'n' ? 1 : -1);
    else if (key === 'f' && view.selected >= 0) tlFocus(view, view.selected);
    else if (key === '0' || key === 'Home') tlShow(view, view.t.first, view.t.last);
    else if (key === '/') view.searchBox.focus();
    else if (key === 'Escape' && view.selected >= 0) {
      view.selected = -1;
      view.panel.replaceChildren();
      view.ask();
    } else return;
    e.preventDefault();
  });
}
function tlMoveCursor(view, step) {
  const list = view.layout.list,
    now = list.findIndex((e) => e.node === view.cursor),
    entry = list[Math.min(list.length - 1, Math.max(0, now + step))];
  if (!entry) return;
  view.cursor = entry.node;
  const { node } = entry,
    spans = node.rows ? node.rows.reduce((sum, r) => sum + r.depths[0].count, 0) : node.counter.times.length;
  view.status.textContent =
    node.name +
    (node.children && node.children.length ? (node.isOpen ? ', open' : ', closed') : '') +
    ', ' +
    count(spans) +
    (node.counter ? ' values' : ' spans');
  tlReveal(view, node);
}
function tlEnter(view) {
  const node = view.cursor;
  if (!node) return;
  if (node.type !== 'lane') {
    tlToggle(view, node);
    return;
  }
  const depth = node.row.depths[0],
    i = tlFirstAfter(view.t, depth, view.from);
  if (depth.count) tlSelect(view, Math.min(i, depth.from + depth.count - 1));
}
function tlNeighbour(view, step) {
  if (view.selected < 0) {
    tlEnter(view);
    return;
  }
  const row = view.t.rows[view.t.rowOf[view.selected]],
    depth = row.depths.find((d) => view.selected >= d.from && view.selected < d.from + d.count),
    to = view.selected + step;
  if (to >= depth.from && to < depth.from + depth.count) tlSelect(view, to);
  else view.status.textContent = 'There is no ' + (step > 0 ? 'later' : 'earlier') + ' span on this row.';
}

/* -------------------------------------------------------------------------------------- controls and tables */

function tlButtons(view) {
  const button = (text, run) => el('button', { type: 'button', on: { click: run } }, text);
  return [
    button('Zoom in', () => tlZoom(view, 2)),
    button('Zoom out', () => tlZoom(view, 0.5)),
    button('Earlier', () => tlPan(view, -(view.width - view.gutter) / 2)),
    button('Later', () => tlPan(view, (view.width - view.gutter) / 2)),
    button('Whole run', () => tlShow(view, view.t.first, view.t.last)),
  ];
}
function tlSearchBox(view) {
  const id = newId('tl-search'),
    result = el('span', { class: 'note', role: 'status' });
  let timer = 0;
  const say = () => {
    const s = view.search;
    result.textContent = !s
      ? ''
      : !s.total
        ? 'nothing found'
        : (s.at >= 0 ? count(s.at + 1) + ' of ' : '') + count(s.total) + ' spans';
  };
  const find = () => {
    clearTimeout(timer);
    timer = 0;
    view.search = tlSearch(view.t, input.value);
    say();
    view.ask();
  };
  const go = (step) => {
    if (timer) find();
    const s = view.search;
    if (!s || !s.found.length) return;
    s.at = (s.at + step + s.found.length) % s.found.length;
    if (s.at < 0) s.at = 0;
    tlSelect(view, s.found[s.at]);
    say();
  };
  const input = el('input', {
    id,
    type: 'search',
    placeholder: 'kernel, warp 3, 0x7f00',
    on: {
      input: () => {
        clearTimeout(timer);
        timer = setTimeout(find, 150);
      },
      keydown: (e) => {
        if (e.key === 'Enter') go(e.shiftKey ? -1 : 1);
        else if (e.key === 'Escape') {
          input.value = '';
          find();
        }
      },
    },
  });
  const button = (text, step) => el('button', { type: 'button', on: { click: () => go(step) } }, text);
  return {
    input,
    parts: [el('label', { for: id }, 'Search'), input, button('Previous', -1), button('Next', 1), result],
  };
}
function tlLegend(view) {
  const parts = [
    ['Kernels', (l) => l.kind === 'kernel'],
    ['States of warps', (l) => l.part === 'state'],
    ['Milestones', (l) => l.part === 'stage'],
  ];
  return parts.map(([title, has]) => {
    const entries = view.t.labels
      .map((l, i) => [l, i])
      .filter(([l], i, all) => has(l) && all.findIndex(([m]) => has(m) && m.text === l.text) === i)
      .slice(0, 24);
    return entries.length
      ? el(
          'div',
          null,
          el('h3', null, title),
          legend(entries.map(([l, i]) => [l.kind === 'kernel' ? shortName(l.text) : l.text, view.numbers[i]])),
        )
      : null;
  });
}
/* The text alternative: how many spans of each name there are, and how long they took. */
function tlNumbers(t) {
  const sums = t.labels.map((label) => ({ label, times: 0, total: 0, longest: 0 }));
  for (let i = 0; i < t.n; i++) {
    const sum = sums[t.label[i]],
      length = t.end[i] - t.begin[i];
    sum.times++;
    sum.total += length;
    sum.longest = Math.max(sum.longest, length);
  }
  const rows = sums
    .filter((s) => s.times)
    .sort((a, b) => b.total - a.total)
    .slice(0, 200)
    .map((s) => [
      s.label.text.replace(/ ?#/g, ''),
      s.label.part === 'whole' ? s.label.kind : s.label.part,
      count(s.times),
      tlTime(s.total, 0),
      tlTime(s.total / s.times, 0),
      tlTime(s.longest, 0),
    ]);
  return el(
    'details',
    null,
    el('summary', null, 'Numbers'),
    plainTable('Spans of the timeline by name', ['name', 'kind', 'spans', 'total', 'mean', 'longest'], rows),
  );
}
