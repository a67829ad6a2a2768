/* sections.js: the sections of one result. Those of a scope are drawn again when another scope is chosen. */
function tile(name, value, more) {
  return el(
    'div',
    { class: 'tile' },
    el('dt', null, name),
    el('dd', null, value, more ? el('span', { class: 'quiet' }, ' ' + more) : null),
  );
}

/* ------------------------------------------------------------------------------------------------ overview */

function overview(result, pick) {
  const run = { result, kernel: -1, gpu: -1 },
    busy = busyNs(result),
    n = result.kernels.id.length;
  const amd = vendorOf(result) === 'amd',
    occ = occupancyOf(run);
  const tiles = el(
    'dl',
    { class: 'tiles' },
    tile('Platform', result.platform || 'unknown', result.gpus > 1 ? result.gpus + ' GPUs' : ''),
    tile('Kernels', count(n)),
    tile('Time with a kernel', time(busy || result.end_ns), result.cycles ? count(result.cycles) + ' cycles' : ''),
    tile(
      'Simulated time',
      time(result.end_ns),
      busy && result.end_ns > busy * 1.005 ? percent(1 - busy / result.end_ns, 0) + ' without a kernel' : '',
    ),
    isNumber(ipcOf(run))
      ? tile('Instructions per cycle', count(ipcOf(run)), amd ? 'wave instructions' : 'warp instructions')
      : null,
    isNumber(occ.share)
      ? tile('Occupancy', percent(occ.share), count(occ.warps) + ' of ' + occ.slots + ' ' + occ.unit)
      : null,
  );
  const stops = [];
  if (result.partial)
    stops.push(el('p', { class: 'warning' }, el('b', null, 'Partial: '), 'the run ended before its work was done.'));
  for (const [kind, words] of result.warnings)
    if (kind !== 'assumption') stops.push(el('p', { class: 'warning' }, el('b', null, kind + ': '), words));
  const assumed = result.warnings.filter((w) => w[0] === 'assumption');
  return [
    tiles,
    stops,
    assumed.length
      ? el(
          'details',
          null,
          el('summary', null, assumed.length + ' assumptions of the platform'),
          el(
            'ul',
            null,
            assumed.map((w) => el('li', null, w[1])),
          ),
        )
      : null,
    part('What limits it', findings(run)),
    part('Where the time goes', costliest(result, pick)),
    n
      ? part(
          'Kernels over time',
          figure(
            'Each kernel from its begin to its end; a click shows its details',
            kernelStrip('Kernels over simulated time', result, pick),
            null,
            null,
          ),
        )
      : null,
  ];
}

/* Sentences of the rules if the data has them, then the evidence. */
function findings(scope) {
  const list = scope.kernel < 0 ? scope.result.findings : (scope.result.kernel_findings || {})[scope.kernel];
  const out = [];
  if (list && list.length)
    out.push(
      el(
        'ol',
        { class: 'findings' },
        list.map((f) =>
          el(
            'li',
            null,
            el('b', null, f.title + ': '),
            f.sentence,
            isNumber(f.gain) && f.gain > 0.005
              ? el('span', { class: 'quiet' }, ' At most ' + percent(f.gain, 0) + ' of the time would go away.')
              : null,
          ),
        ),
      ),
    );
  const speeds = speedOf(scope)
      .slice()
      .sort((a, b) => b.value - a.value)[0],
    stall = mainStall(scope);
  if (!list && (speeds || stall))
    out.push(
      el(
        'p',
        null,
        speeds ? 'Nearest to its limit: ' + speeds.name + ', ' + percent(speeds.value) + '. ' : '',
        stall ? 'Most issue slots are lost to ' + stall + '.' : '',
      ),
    );
  out.push(stallTotal(scope));
  return out;
}

function costliest(result, pick) {
  const k = result.kernels,
    by = new Map();
  k.id.forEach((_, i) => {
    if (k.side[i] === 2) return;
    const e = by.get(k.name[i]) || { ns: 0, launches: 0, longest: i };
    e.ns += k.ns[i];
    e.launches++;
    if (k.ns[i] > k.ns[e.longest]) e.longest = i;
    by.set(k.name[i], e);
  });
  const all = sum([...by.values()].map((e) => e.ns));
  const rows = [...by.entries()].map(([name, e]) => ({ name: k.names[name], ...e })).sort((a, b) => b.ns - a.ns);
  if (!rows.length) return note('The run has no kernels.');
  return dataTable(
    'Time by name of kernel',
    [
      {
        name: 'Kernel',
        row: true,
        value: (r) => r.name,
        text: (r) => shortName(r.name),
        title: (r) => r.name,
        filter: (r) => r.name,
        link: (r) => pick(r.longest),
      },
      { name: 'Launches', number: true, value: (r) => r.launches, text: (r) => count(r.launches) },
      { name: 'Time', number: true, value: (r) => r.ns, text: (r) => time(r.ns) },
      {
        name: 'Share',
        number: true,
        value: (r) => r.ns / all,
        text: (r) => percent(r.ns / all),
        bar: (r) => r.ns / all,
      },
      { name: 'Main stall of the longest', value: (r) => mainStall({ result, kernel: r.longest, gpu: -1 }) },
    ],
    rows,
    { sort: 2, shown: 10 },
  );
}

/* ------------------------------------------------------------------------------------------------- kernels */

function kernelTable(result, pick) {
  const k = result.kernels,
    rows = k.id.map((_, i) => i).filter((i) => k.side[i] !== 2),
    total = sum(k.ns) || 1,
    amd = vendorOf(result) === 'amd';
  const scope = (i) => ({ result, kernel: i, gpu: -1 });
  const detail = (i, f) => (k.values[i] ? f(scope(i)) : NaN);
  const number = (name, f, show, help) => ({
    name,
    number: true,
    help,
    value: (i) => detail(i, f),
    text: (i) => show(detail(i, f)),
  });
  return dataTable(
    'Kernels in the order of their launch; headings sort',
    [
      { name: '#', number: true, value: (i) => k.id[i], text: (i) => count(k.id[i]) },
      {
        name: 'Kernel',
        row: true,
        value: (i) => nameOf(result, i),
        text: (i) => shortName(nameOf(result, i)),
        title: (i) => nameOf(result, i),
        filter: (i) => nameOf(result, i),
        link: pick,
      },
      ...(result.gpus > 1 ? [{ name: 'GPU', number: true, value: (i) => k.gpu[i] }] : []),
      { name: 'Begin', number: true, value: (i) => k.begin_ns[i], text: (i) => time(k.begin_ns[i]) },
      { name: 'Time', number: true, value: (i) => k.ns[i], text: (i) => time(k.ns[i]) },
      {
        name: 'Share',
        number: true,
        value: (i) => k.ns[i] / total,
        text: (i) => percent(k.ns[i] / total),
        bar: (i) => k.ns[i] / total,
      },
      { name: 'Cycles', number: true, value: (i) => k.cycles[i], text: (i) => count(k.cycles[i]) },
      number('IPC', ipcOf, count, 'instructions of warps or waves per cycle of the GPU'),
      number(
        'Occupancy',
        (s) => occupancyOf(s).share,
        (x) => percent(x, 0),
        'warps or waves on a core that has some, of its slots',
      ),
      number(
        'L1 hits',
        (s) => hitsOf(s).l1,
        (x) => percent(x, 0),
      ),
      number(
        'L2 hits',
        (s) => hitsOf(s).l2,
        (x) => percent(x, 0),
      ),
      number(
        'DRAM',
        (s) => share(trafficOf(s).dram, nsOf(s)),
        (x) => (x > 0 ? rate(x) : '–'),
        'bytes over the time of the kernel',
      ),
      { name: 'Main stall', value: (i) => (k.values[i] ? mainStall(scope(i)) : '') },
    ],
    rows,
    {},
  );
}

/* ----------------------------------------------------------------------------------------- configuration, host */

function configuration(result) {
  if (!result.config.length) return [note('The result has no configuration.')];
  const rows = result.config,
    own = rows.filter((r) => r[5] !== null).length,
    base = rows.filter((r) => r[6] !== null).length;
  return [
    el(
      'p',
      null,
      count(rows.length) +
        ' keys; ' +
        count(own) +
        ' differ from platform ' +
        result.platform +
        ', ' +
        count(base) +
        ' of the platform differ from its base or default.',
    ),
    dataTable(
      'Configuration of the run',
      [
        { name: 'Key', row: true, value: (r) => r[0] },
        { name: 'Value', value: (r) => r[1], text: (r) => r[1] + (r[2] ? ' ' + r[2] : '') },
        { name: 'Instead of', value: (r) => r[5] ?? r[6] ?? '', help: 'the value of the platform, or of its base' },
        { name: 'Origin', value: (r) => r[3] || 'result' },
        { name: 'Source', wrap: true, value: (r) => r[4] || '' },
      ],
      rows,
      { shown: 40, sort: own ? 2 : -1 },
    ),
  ];
}

function hostCost(results) {
  const rows = results.map((r) => [
    r.label,
    isNumber(r.host.wall_seconds) ? time(r.host.wall_seconds * 1e9) : '–',
    count(r.host.threads),
    count(r.host.windows),
    r.cycles && r.host.wall_seconds ? si(r.cycles / r.host.wall_seconds) + ' cycles/s' : '–',
    r.host.wall_seconds ? count((r.host.wall_seconds * 1e9) / r.end_ns) + ' ×' : '–',
  ]);
  return [
    plainTable(
      'Cost on the host',
      ['Result', 'Host time', 'Threads', 'Windows', 'Speed', 'Slower than the simulated GPU'],
      rows,
    ),
    el(
      'dl',
      { class: 'plain' },
      results.map((r) => [
        el('dt', null, r.label),
        el('dd', null, el('code', null, r.host.command || r.host.file)),
        el('dd', { class: 'quiet' }, 'Lockstep ' + r.lockstep),
      ]),
    ),
  ];
}
