/* compare.js: several results: the others against the first. Kernels are matched by number and name. */
function matchKernels(a, b) {
  const keyOf = (r, i) => r.kernels.gpu[i] + ':' + r.kernels.id[i] + ':' + nameOf(r, i),
    at = new Map();
  b.kernels.id.forEach((_, i) => at.set(keyOf(b, i), i));
  const pairs = [];
  a.kernels.id.forEach((_, i) => {
    const other = at.get(keyOf(a, i));
    if (a.kernels.side[i] === 2) return;
    pairs.push([i, other ?? -1]);
    at.delete(keyOf(a, i));
  });
  for (const i of at.values()) if (b.kernels.side[i] !== 2) pairs.push([-1, i]);
  return pairs;
}

function compareFacts(results) {
  const run = (r) => ({ result: r, kernel: -1, gpu: -1 });
  const rows = [
    ['Simulated time', (r) => r.end_ns, time],
    ['Time with a kernel', (r) => busyNs(r), time],
    ['Cycles', (r) => r.cycles, count],
    ['Instructions per cycle', (r) => ipcOf(run(r)), count],
    ['Occupancy', (r) => occupancyOf(run(r)).share, percent],
    ['L1 hits', (r) => hitsOf(run(r)).l1, percent],
    ['L2 hits', (r) => hitsOf(run(r)).l2, percent],
    ['Bytes of DRAM', (r) => trafficOf(run(r)).dram, bytes],
    ['Bytes of L2', (r) => trafficOf(run(r)).l2, bytes],
  ];
  const head = ['Quantity', results[0].label];
  for (const r of results.slice(1)) head.push(r.label, 'change');
  return plainTable(
    'The results side by side; changes are against ' + results[0].label,
    head,
    rows
      .filter(([, f]) => results.some((r) => isNumber(f(r))))
      .map(([name, f, show]) => {
        const out = [name, show(f(results[0]))];
        for (const r of results.slice(1)) out.push(show(f(r)), change(f(results[0]), f(r)));
        return out;
      }),
  );
}

/* What each name of kernel contributes to the change of the sum of kernel times, the largest first. */
function contributions(a, b) {
  const by = new Map();
  for (const [r, sign] of [
    [a, -1],
    [b, 1],
  ])
    r.kernels.id.forEach((_, i) => {
      if (r.kernels.side[i] === 2) return;
      const name = nameOf(r, i),
        e = by.get(name) || { name, a: 0, b: 0 };
      e[sign < 0 ? 'a' : 'b'] += r.kernels.ns[i];
      by.set(name, e);
    });
  const rows = [...by.values()].map((e) => ({ ...e, d: e.b - e.a })).sort((x, y) => Math.abs(y.d) - Math.abs(x.d)),
    all = sum(rows.map((e) => e.d));
  const top = rows.slice(0, 12),
    most = Math.max(...top.map((e) => Math.abs(e.d)), 1e-30),
    left = 240,
    row = 24,
    mid = left + (WIDTH - left) / 2,
    half = (WIDTH - left) / 2 - 76;
  const chart = svg(
    WIDTH,
    top.length * row + 8,
    'Contributions of kernels to the change of time',
    line(mid, 0, mid, top.length * row + 4, 'axis'),
    top.map((e, i) => {
      const long = (half * Math.abs(e.d)) / most,
        y = i * row + 4,
        faster = e.d < 0;
      return svgEl(
        'g',
        null,
        text(left - 8, y + 13, shortName(e.name).slice(0, 32), 'end'),
        rect(faster ? mid - long : mid, y, long, row - 7, faster ? 'c2' : 'c1', e.name),
        text(
          faster ? mid - long - 5 : mid + long + 5,
          y + 13,
          (faster ? '−' : '+') + time(Math.abs(e.d)),
          faster ? 'end' : null,
        ),
      );
    }),
  );
  return figure(
    'What each kernel adds to the change of ' +
      (all < 0 ? '−' : '+') +
      time(Math.abs(all)) +
      ' (sum of kernel times); left is faster',
    chart,
    ['Kernel', a.label, b.label, 'Difference', 'Part of the change'],
    rows
      .slice(0, 100)
      .map((e) => [
        shortName(e.name),
        time(e.a),
        time(e.b),
        (e.d < 0 ? '−' : '+') + time(Math.abs(e.d)),
        percent(share(e.d, all)),
      ]),
  );
}

function kernelChanges(a, b, pick) {
  const pairs = matchKernels(a, b),
    ns = (r, i) => (i < 0 ? NaN : r.kernels.ns[i]),
    difference = (p) => (p[0] < 0 ? ns(b, p[1]) : p[1] < 0 ? -ns(a, p[0]) : ns(b, p[1]) - ns(a, p[0]));
  const name = (p) => (p[0] >= 0 ? nameOf(a, p[0]) : nameOf(b, p[1])),
    total = sum(pairs.map(difference)) || 1;
  return dataTable(
    'Kernels of both, the largest difference of time first',
    [
      { name: '#', number: true, value: (p) => (p[0] >= 0 ? a.kernels.id[p[0]] : b.kernels.id[p[1]]) },
      {
        name: 'Kernel',
        row: true,
        value: name,
        text: (p) => shortName(name(p)),
        title: name,
        filter: name,
        link: (p) => pick(Math.max(0, p[0])),
      },
      { name: a.label, number: true, value: (p) => ns(a, p[0]), text: (p) => time(ns(a, p[0])) },
      { name: b.label, number: true, value: (p) => ns(b, p[1]), text: (p) => time(ns(b, p[1])) },
      {
        name: 'Difference',
        number: true,
        value: (p) => Math.abs(difference(p)),
        text: (p) => (difference(p) < 0 ? '−' : '+') + time(Math.abs(difference(p))),
      },
      {
        name: 'Change',
        number: true,
        value: (p) => ns(b, p[1]) / ns(a, p[0]),
        text: (p) =>
          p[0] < 0 ? 'only in ' + b.label : p[1] < 0 ? 'only in ' + a.label : change(ns(a, p[0]), ns(b, p[1])),
      },
      {
        name: 'Of the whole change',
        number: true,
        value: (p) => difference(p) / total,
        text: (p) => percent(difference(p) / total),
      },
    ],
    pairs,
    { sort: 4 },
  );
}

function stallChanges(results) {
  const all = results.map((r) => stallsOf({ result: r, kernel: -1, gpu: -1 }));
  if (all.some((s) => !s)) return null;
  const rows = all.map((s, i) => [results[i].label, s]),
    names = [...new Set(all.flatMap((s) => s.list.map((x) => x.reason)))];
  const shareOf = (s, n) => (s.list.find((x) => x.reason === n) || { share: 0 }).share;
  const charts = all[0].parts
    ? rows.map(([label, s]) =>
        el(
          'div',
          null,
          el('p', { class: 'quiet' }, label),
          stackBar(
            'Stall stack of ' + label,
            s.list.map((x) => ({ ...x, name: reasonText[x.reason] || x.reason, color: reasonColor[x.reason] ?? 9 })),
          ),
        ),
      )
    : [];
  return figure(
    'Issue slots by reason',
    el(
      'div',
      null,
      charts,
      all[0].parts
        ? legend(names.map((n) => [reasonText[n] || n, reasonColor[n] ?? 9]))
        : barChart(
            'Reasons',
            names.flatMap((n) =>
              rows.map(([label, s], i) => ({
                name: (reasonText[n] || n).slice(0, 18) + ', ' + label.slice(0, 10),
                value: shareOf(s, n),
                label: percent(shareOf(s, n)),
                color: i,
              })),
            ),
            1,
          ),
    ),
    ['Reason', ...results.map((r) => r.label)],
    names.map((n) => [reasonText[n] || n, ...all.map((s) => percent(shareOf(s, n)))]),
  );
}

function configChanges(results) {
  const maps = results.map((r) => indexOf(r).config),
    keys = [...new Set(results.flatMap((r) => r.config.map((c) => c[0])))];
  const rows = keys.filter((k) => new Set(maps.map((m) => (m.get(k) || [])[1])).size > 1);
  return rows.length
    ? plainTable(
        'Keys with different values',
        ['Key', ...results.map((r) => r.label)],
        rows.map((k) => [k, ...maps.map((m) => (m.get(k) || [])[1] ?? '–')]),
      )
    : note('All keys have the same values.');
}

function metricChanges(a, b) {
  const rows = [];
  for (const [type, list] of Object.entries(a.metrics))
    list.forEach((m, i) => {
      const other = (b.metrics[type] || []).findIndex((x) => x[0] === m[0]),
        x = a.run[type][i],
        y = other < 0 ? 0 : b.run[type][other];
      if (x !== y && isNumber(x) && isNumber(y)) rows.push({ type, name: m[0], unit: m[2], help: m[3], x, y });
    });
  return dataTable(
    'Metrics of the run that differ',
    [
      { name: 'Type', value: (r) => r.type },
      { name: 'Metric', row: true, value: (r) => r.name, title: (r) => r.help },
      { name: a.label, number: true, value: (r) => r.x, text: (r) => count(r.x) },
      { name: b.label, number: true, value: (r) => r.y, text: (r) => count(r.y) },
      {
        name: 'Change',
        number: true,
        value: (r) => Math.abs(r.y - r.x) / Math.max(Math.abs(r.x), Math.abs(r.y)),
        text: (r) => change(r.x, r.y),
      },
      { name: 'Unit', value: (r) => r.unit },
    ],
    rows,
    { sort: 4, shown: 50 },
  );
}

function comparison(results, pick) {
  return [
    part('Side by side', compareFacts(results)),
    ...results
      .slice(1)
      .map((b) =>
        part(
          'What changed from ' + results[0].label + ' to ' + b.label,
          contributions(results[0], b),
          kernelChanges(results[0], b, pick),
          metricChanges(results[0], b),
        ),
      ),
    part('Stalls', stallChanges(results)),
    part('Configuration', configChanges(results)),
  ];
}
