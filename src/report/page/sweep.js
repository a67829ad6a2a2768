/* sweep.js: the points of a sweep: a table, parallel coordinates and the points that no other beats. */
function sweepSection(sweep) {
  const points = sweep.points,
    state = { chosen: -1, x: '', y: '' };
  const numeric = (list) => list.every((t) => t !== null && t !== '' && isFinite(Number(t)));
  const format = (name, unit) =>
    unit === 'ns' ? time : /rate|share|efficiency|utilisation/.test(name) ? percent : count;
  const axes = sweep.keys.map((key, i) => {
    const texts = points.map((p) => p.values[i] ?? '–'),
      kinds = [...new Set(texts)];
    return {
      name: key,
      texts,
      values: numeric(texts) ? texts.map(Number) : texts.map((t) => kinds.indexOf(t)),
      key: true,
      number: numeric(texts),
      show: count,
    };
  });
  sweep.columns.forEach(([name, unit], i) => {
    const values = points.map((p) => p.numbers[i]),
      show = format(name, unit);
    if (values.some(isNumber))
      axes.push({
        name: name.replace(/^[^.]*\/[^.]*\./, (t) => t.split('/')[0] + '.'),
        long: name,
        unit,
        values,
        texts: values.map((v) => show(v)),
        number: true,
        show,
        varies: new Set(values).size > 1,
      });
  });
  const rows = points.map((_, i) => i),
    status = el('p', { class: 'note', role: 'status', 'aria-live': 'polite' });
  const table = dataTable(
    'Points of the sweep',
    [
      { name: 'Run', number: true, row: true, value: (i) => points[i].run },
      ...axes
        .filter((a) => a.key || a.varies || a.name === 'time')
        .map((a) => ({
          name: a.name,
          number: a.number,
          help: a.long,
          value: (i) => (a.number ? a.values[i] : a.texts[i]),
          text: (i) => a.texts[i],
        })),
      {
        name: 'host time',
        number: true,
        value: (i) => sweep.host.wall_seconds[i],
        text: (i) => time(sweep.host.wall_seconds[i] * 1e9),
      },
    ],
    rows,
    { shown: 200, sort: 1 + axes.filter((a) => a.key).length, down: false },
  );
  const choose = (i) => {
    state.chosen = i;
    for (const l of document.querySelectorAll('[data-point]'))
      l.classList.toggle('chosen', Number(l.dataset.point) === i);
    status.textContent =
      'Run ' +
      points[i].run +
      ': ' +
      axes
        .filter((a) => a.key || a.name === 'time')
        .map((a) => a.name + ' ' + a.texts[i])
        .join(', ');
  };
  const shown = axes
    .filter((a) => a.key)
    .concat(axes.filter((a) => !a.key && a.varies && a.name !== 'cycles'))
    .slice(0, 8);
  const time0 = axes.find((a) => a.name === 'time'),
    order = rows.slice().sort((a, b) => time0.values[a] - time0.values[b]),
    rank = new Map(order.map((p, i) => [p, i]));
  const colorOf = (i) => (rank.get(i) < points.length / 4 ? 2 : rank.get(i) < (points.length * 3) / 4 ? 0 : 1);
  const lines = figure(
    'A line per point; the fastest quarter is green, the slowest orange',
    el(
      'div',
      null,
      parallel('Parallel coordinates of the sweep', shown, colorOf, choose),
      legend([
        ['fastest quarter', 2],
        ['middle', 0],
        ['slowest quarter', 1],
      ]),
    ),
    null,
    null,
  );

  const fields = axes.filter((a) => a.number && (a.key || a.varies)),
    holder = el('div');
  const goals = new Map(
    fields.map((a) => [a.name, /rate|ipc|share|occupancy|efficiency|intensity|hit/.test(a.name) ? -1 : 1]),
  );
  const select = (name, value) => {
    const id = newId('axis'),
      box = el(
        'select',
        {
          id,
          on: {
            change: () => {
              state[name] = box.value;
              drawFront();
            },
          },
        },
        fields.map((a) =>
          el('option', { value: a.name }, a.name + (goals.get(a.name) < 0 ? ' (more is better)' : '')),
        ),
      );
    state[name] = box.value = value;
    return [el('label', { for: id }, name === 'x' ? 'Cost' : 'Result'), box];
  };
  function drawFront() {
    const ax = fields.find((a) => a.name === state.x),
      ay = fields.find((a) => a.name === state.y),
      gx = goals.get(ax.name),
      gy = goals.get(ay.name);
    const list = rows
      .filter((i) => isNumber(ax.values[i]) && isNumber(ay.values[i]))
      .map((i) => ({
        index: i,
        x: ax.values[i],
        y: ay.values[i],
        name:
          axes
            .filter((a) => a.key)
            .map((a) => a.name + ' ' + a.texts[i])
            .join(', ') +
          ': ' +
          ax.texts[i] +
          ', ' +
          ay.texts[i],
      }));
    for (const p of list)
      p.best = !list.some((q) => gx * q.x <= gx * p.x && gy * q.y <= gy * p.y && (q.x !== p.x || q.y !== p.y));
    const best = list.filter((p) => p.best).sort((a, b) => a.x - b.x);
    holder.replaceChildren(
      figure(
        ay.name + ' against ' + ax.name + ': squares are the points that no other beats in both',
        scatter(
          'Pareto front of ' + ay.name + ' against ' + ax.name,
          list,
          ax.name,
          ay.name,
          ax.show,
          ay.show,
          choose,
        ),
        ['Run', ax.name, ay.name, ...sweep.keys],
        best.map((p) => [
          String(points[p.index].run),
          ax.texts[p.index],
          ay.texts[p.index],
          ...sweep.keys.map((_, k) => points[p.index].values[k] ?? '–'),
        ]),
      ),
    );
  }
  const front = [];
  if (fields.length > 1) {
    const costs = fields.filter((a) => a.key).sort((a, b) => new Set(b.values).size - new Set(a.values).size);
    front.push(
      el(
        'div',
        { class: 'tools' },
        select('x', (costs[0] || fields[0]).name),
        select('y', fields.some((a) => a.name === 'time') ? 'time' : fields[fields.length - 1].name),
      ),
      holder,
    );
    drawFront();
  }
  return [
    el('p', null, count(points.length) + ' points over ' + sweep.keys.length + ' keys.'),
    status,
    part('Pareto front', front),
    part('Parallel coordinates', lines),
    part('Points', table),
  ];
}
