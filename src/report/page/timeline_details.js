/* timeline_details.js: the chosen span of a timeline: facts, milestones, and its parts in other blocks. */
function tlFocus(view, i) {
  const { begin, end } = view.t,
    room = Math.max((end[i] - begin[i]) * 0.6, 20);
  tlSelect(view, i);
  tlShow(view, begin[i] - room, end[i] + room);
}
function tlSelect(view, i) {
  const t = view.t;
  view.selected = i;
  view.cursor = t.rows[t.rowOf[i]].node;
  tlReveal(view, view.cursor);
  const span = (view.width - view.gutter) / view.scale;
  if (t.end[i] < view.from || t.begin[i] > view.from + span) {
    const middle = (t.begin[i] + t.end[i]) / 2;
    tlShow(view, middle - span / 2, middle + span / 2);
  }
  view.panel.replaceChildren(...tlDetails(view, i).filter(Boolean));
  view.ask();
}
/* Spans in other blocks that belong to each span: the services of a request, the groups of a kernel. */
function tlParts(t, i) {
  if (!t.parts) {
    t.parts = new Map();
    for (let k = 0; k < t.n; k++)
      if (t.parent[k] >= 0) {
        const list = t.parts.get(t.parent[k]);
        if (list) list.push(k);
        else t.parts.set(t.parent[k], [k]);
      }
  }
  return t.parts.get(i) || [];
}
function tlDetails(view, i) {
  const t = view.t,
    label = t.labels[t.label[i]],
    row = t.rows[t.rowOf[i]],
    value = tlValue(t, i),
    go = (to, text) => el('button', { class: 'link', type: 'button', on: { click: () => tlFocus(view, to) } }, text);
  const facts = [
    ['kind', label.part === 'whole' ? label.kind : label.part],
    ['where', tlRowName(row)],
    ['begin', tlTime(t.begin[i], 0)],
    ['length', tlTime(t.end[i] - t.begin[i], 0)],
    value,
    t.parent[i] >= 0
      ? ['of', go(t.parent[i], tlName(t, t.parent[i]) + ' (' + tlRowName(t.rows[t.rowOf[t.parent[i]]]) + ')')]
      : null,
  ].filter(Boolean);
  const inner = row.depths[1],
    isOuter = i < inner.from;
  return [
    el('h3', null, tlName(t, i)),
    el(
      'dl',
      { class: 'tl-facts' },
      facts.map(([name, text]) => el('div', null, el('dt', null, name), el('dd', null, text))),
    ),
    isOuter && inner.count ? tlMilestones(t, i, inner) : null,
    tlElsewhere(t, i, go),
  ];
}
/* States and stages inside of the span: in order if they are few, else summed up. */
function tlMilestones(t, i, inner) {
  const list = [];
  for (
    let k = tlFirstAfter(t, inner, t.begin[i] - 0.5);
    k < inner.from + inner.count && t.begin[k] < t.end[i] + 0.5;
    k++
  )
    if (t.end[k] <= t.end[i] + 0.5 && t.begin[k] >= t.begin[i] - 0.5) list.push(k);
  if (!list.length) return null;
  const whole = t.end[i] - t.begin[i] || 1,
    caption = (t.labels[t.label[i]].kind === 'warp' ? 'States' : 'Milestones') + ' of ' + tlName(t, i);
  if (list.length <= 40)
    return plainTable(
      caption,
      ['name', 'after', 'length', 'share'],
      list.map((k) => [
        tlName(t, k),
        tlTime(t.begin[k] - t.begin[i], 0),
        tlTime(t.end[k] - t.begin[k], 0),
        percent((t.end[k] - t.begin[k]) / whole),
      ]),
    );
  const sums = new Map();
  for (const k of list) {
    const sum = sums.get(t.label[k]) || { times: 0, total: 0 };
    sum.times++;
    sum.total += t.end[k] - t.begin[k];
    sums.set(t.label[k], sum);
  }
  return plainTable(
    caption + ', ' + count(list.length) + ' in all',
    ['name', 'times', 'length', 'share'],
    [...sums]
      .sort((a, b) => b[1].total - a[1].total)
      .map(([k, s]) => [t.labels[k].text, count(s.times), tlTime(s.total, 0), percent(s.total / whole)]),
  );
}
function tlElsewhere(t, i, go) {
  const parts = tlParts(t, i)
    .slice()
    .sort((a, b) => t.begin[a] - t.begin[b]);
  if (!parts.length) return null;
  const shown = parts.slice(0, 30);
  return el(
    'div',
    null,
    el(
      'h4',
      null,
      'In other blocks' +
        (parts.length > shown.length ? ' (the first ' + shown.length + ' of ' + count(parts.length) + ')' : ''),
    ),
    el(
      'ul',
      null,
      shown.map((k) =>
        el(
          'li',
          null,
          go(k, tlName(t, k)),
          ' in ' +
            tlRowName(t.rows[t.rowOf[k]]) +
            ': ' +
            tlTime(t.end[k] - t.begin[k], 0) +
            ' from ' +
            tlTime(t.begin[k], 0),
        ),
      ),
    ),
  );
}
