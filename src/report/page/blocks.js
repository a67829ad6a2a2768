/* blocks.js: parts of the section Details about single blocks and counters, and all parts in their order. */
const levelText = { latency_l1: 'L1', latency_l2: 'L2', latency_dram: 'DRAM', latency_remote: 'other GPUs' };
/* Where the next bucket begins: histograms of levels have four for each power of two, others one. */
const bucketEnd = (metric, least) =>
  levelText[metric] ? least + (least < 8 ? 1 : 2 ** (Math.floor(Math.log2(least)) - 2)) : Math.max(1, 2 * least);
/* Inside of a bucket values are taken for evenly spread. */
function quantile(metric, buckets, part) {
  let left = part * sum(buckets.map((b) => b[1]));
  for (const [least, n] of buckets) {
    if (left <= n) return least + (left / n) * (bucketEnd(metric, least) - 1 - least);
    left -= n;
  }
  return NaN;
}
function latencyTable(r, levels) {
  const run = { result: r, kernel: -1, gpu: -1 };
  const rows = levels.map(([family, metric, buckets]) => [
    levelText[metric],
    count(sum(buckets.map((b) => b[1]))),
    count(get(run, family, metric)),
    ...[0.5, 0.95, 0.99].map((q) => count(Math.round(quantile(metric, buckets, q)))),
  ]);
  return figure(
    'Round trip of loads and atomics by the farthest level that they needed, in cycles of the core, whole run; ' +
      'percentiles are estimates inside of buckets',
    barChart(
      'Mean round trip by level',
      levels.map(([family, metric]) => {
        const mean = get(run, family, metric);
        return { name: levelText[metric], value: mean, label: count(mean), color: 0 };
      }),
    ),
    ['Level', 'Loads', 'Mean', 'Median', '95 %', '99 %'],
    rows,
  );
}
function latencies(scope) {
  const r = scope.result,
    out = [],
    levels = [];
  for (const [name, buckets] of Object.entries(r.buckets)) {
    const [type, metric] = [name.slice(0, name.lastIndexOf('.')), name.slice(name.lastIndexOf('.') + 1)];
    if (levelText[metric] && /^(core|cu)\//.test(type)) levels.push([type.split('/')[0], metric, buckets]);
  }
  if (levels.length) out.push(latencyTable(r, levels));
  for (const [name, buckets] of Object.entries(r.buckets)) {
    const [type, metric] = [name.slice(0, name.lastIndexOf('.')), name.slice(name.lastIndexOf('.') + 1)];
    const entry = r.metrics[type].find((m) => m[0] === metric),
      mean = get({ result: r, kernel: -1, gpu: -1 }, type.split('/')[0], metric);
    out.push(
      figure(
        type +
          ' ' +
          metric +
          ': ' +
          (entry ? entry[3] : '') +
          '; mean ' +
          count(mean) +
          [0.5, 0.95, 0.99].map((q, i) => ['; median ', ', 95 % ', ', 99 % '][i] + count(Math.round(quantile(metric, buckets, q)))).join('') +
          ', whole run',
        histogram('Histogram of ' + name, buckets, entry ? entry[2] : '', (least) => bucketEnd(metric, least)),
        ['From', 'Count'],
        buckets.map((b) => [count(b[0]), count(b[1])]),
      ),
    );
  }
  const rows = [
    ['vector loads, compute unit', 'cu', 'vector_load_latency'],
    ['scalar loads, compute unit', 'cu', 'scalar_load_latency'],
    ['fetch, compute unit', 'cu', 'fetch_latency'],
    ['vector L1', 'vector_cache', 'average_latency'],
    ['scalar L1', 'scalar_cache', 'average_latency'],
    ['L2', 'l2', 'average_latency'],
    ['DRAM channel', 'channel', 'average_latency'],
    ['DRAM', 'dram', 'latency'],
    ['other GPUs', 'rdma', 'average_latency'],
  ]
    .map(([name, f, m]) => ({ name, value: get(scope, f, m), color: 5 }))
    .filter((x) => x.value > 0);
  if (rows.length)
    out.push(
      figure(
        'Mean latency by level, in cycles of that level',
        barChart(
          'Mean latencies',
          rows.map((x) => ({ ...x, label: count(x.value) })),
        ),
        ['Level', 'Cycles'],
        rows.map((x) => [x.name, count(x.value)]),
      ),
    );
  return out;
}

function dramChannels(scope) {
  const d = blocksOf({ ...scope, kernel: -1, gpu: gpuOf(scope) }, 'dram');
  if (!d || !d.row_hits) return null;
  const kinds = [
    ['row hits', d.row_hits, 2],
    ['row misses', d.row_misses, 4],
    ['row conflicts', d.row_conflicts, 1],
  ].filter((x) => x[1]);
  const total = d.paths.map((_, i) => sum(kinds.map((x) => x[1][i])) || 0),
    most = Math.max(...total);
  if (!(most > 0)) return null;
  const n = d.paths.length,
    left = 52,
    top = 8,
    height = 190,
    bottom = 26,
    wide = Math.max(4, (WIDTH - left - 4) / n),
    y = (v) => top + (height - top - bottom) * (1 - v / most),
    pieces = [];
  d.paths.forEach((p, i) => {
    let at = 0;
    for (const [name, list, color] of kinds) {
      pieces.push(
        rect(
          left + i * wide + 1,
          y(at + list[i]),
          wide - Math.min(2, wide / 4),
          y(at) - y(at + list[i]),
          'c' + color,
          p + ', ' + name + ': ' + count(list[i]),
        ),
      );
      at += list[i];
    }
  });
  const chart = svg(
    Math.max(WIDTH, left + wide * n + 4),
    height,
    'DRAM channels: row hits, misses and conflicts',
    ticks(most)
      .filter((t) => t <= most)
      .map((t) => [line(left, y(t), WIDTH, y(t), 'grid'), text(left - 5, y(t) + 4, si(t), 'end')]),
    pieces,
    text(left, height - 8, d.paths[0].replace(/\.dram$/, ''), 'small'),
    text(left + wide * n, height - 8, d.paths[n - 1].replace(/\.dram$/, ''), 'end small'),
  );
  const sums = kinds.map((x) => [x[0], x[2], percent(sum(x[1]) / sum(total))]);
  return figure(
    'Requests of each DRAM channel by the state of their row, whole run',
    el('div', null, chart, legend(sums)),
    ['Channel', 'Hits', 'Misses', 'Conflicts', 'Bus busy of active'],
    d.paths.map((p, i) => [
      p,
      count(d.row_hits[i]),
      count((d.row_misses || [])[i] ?? 0),
      count((d.row_conflicts || [])[i] ?? 0),
      percent(share((d.busy_cycles || [])[i], (d.active_cycles || [])[i])),
    ]),
  );
}

/* A row of cells per group of blocks: where cores, slices and ports of the network have their load. */
function loadMap(scope) {
  const r = scope.result,
    rows = [],
    names = [],
    tables = [];
  const add = (family, metric, name) => {
    const b = blocksOf({ result: r, kernel: -1, gpu: gpuOf(scope) }, family);
    if (!b || !b[metric]) return;
    const most = Math.max(...b[metric]),
      whole = sum(b[metric]),
      perRow = 64;
    if (!(most > 0)) return;
    for (let i = 0; i < b.paths.length; i += perRow) {
      names.push(i ? '' : name);
      rows.push(
        b.paths
          .slice(i, i + perRow)
          .map((p, j) => ({
            value: b[metric][i + j] / most,
            label:
              p +
              ' ' +
              metric +
              ': ' +
              count(b[metric][i + j]) +
              ', ' +
              percent(b[metric][i + j] / whole) +
              ' of all',
          })),
      );
    }
    const mean = whole / b.paths.length;
    tables.push([name, count(b.paths.length), count(most), count(mean), count(most / mean)]);
  };
  add('core', 'warp_instructions', 'core instructions');
  add('core', 'network_stall_cycles', 'network stalls');
  add('cu', 'instructions', 'CU instructions');
  add('line-hub', 'requests', 'network in');
  add('line-gate', 'requests', 'network out');
  add('line-gate', 'waited', 'waits at ports');
  for (const type of Object.keys(r.blocks))
    if (type.startsWith('noc'))
      for (const m of Object.keys(r.blocks[type]))
        if (m !== 'paths' && /flits|stall|busy/.test(m))
          add(type.split('/')[0], m, m.replace(/_/g, ' ').slice(0, 18));
  add(
    'l2',
    r.blocks[Object.keys(r.blocks).find((t) => t.startsWith('l2/'))]?.accesses ? 'accesses' : 'reads',
    'L2 accesses',
  );
  add('dram', 'requests', 'DRAM requests');
  return rows.length
    ? figure(
        'Load of single blocks, whole run: stronger colour is more, each row by its own largest',
        heatMap('Heat map of blocks', names, null, rows, 1),
        ['Metric', 'Blocks', 'Largest', 'Mean', 'Largest over mean'],
        tables,
      )
    : null;
}

function sourceView(scope) {
  const source =
    scope.result.source && scope.kernel >= 0 ? scope.result.source[nameOf(scope.result, scope.kernel)] : null;
  if (!source) return null;
  return dataTable(
    'Instructions',
    source.columns.map((name, i) => ({
      name,
      number: typeof source.rows[0]?.[i] === 'number',
      row: i === 0,
      value: (r) => r[i],
      text: (r) => (typeof r[i] === 'number' ? count(r[i]) : String(r[i] ?? '')),
    })),
    source.rows,
    { shown: 400 },
  );
}

function allCounters(scope) {
  const values = valuesOf(scope),
    rows = [];
  for (const [type, list] of Object.entries(scope.result.metrics))
    list.forEach((m, i) => {
      if (values[type] && isNumber(values[type][i]) && values[type][i] !== 0)
        rows.push({ type, name: m[0], unit: m[2], help: m[3], value: values[type][i] });
    });
  return el(
    'details',
    null,
    el('summary', null, 'All ' + rows.length + ' counters of this scope'),
    dataTable(
      'Counters',
      [
        { name: 'Type', value: (r) => r.type },
        { name: 'Metric', row: true, value: (r) => r.name, title: (r) => r.help },
        { name: 'Value', number: true, value: (r) => r.value, text: (r) => count(r.value) },
        { name: 'Unit', value: (r) => r.unit },
        { name: 'Meaning', wrap: true, value: (r) => r.help },
      ],
      rows,
      { shown: 400 },
    ),
  );
}

function details(scope, pick) {
  if (!hasDetail(scope))
    return [
      note(
        'This report has all metrics of the ' +
          count(scope.result.kernels.values.filter(Boolean).length) +
          ' longest kernels; of this one it has only the time.',
      ),
    ];
  const k = scope.result.kernels;
  const shared =
    scope.kernel >= 0 && k.side[scope.kernel] === 1
      ? note(
          'Other kernels ran at the same time: values of caches and memory that they share are not in this kernel.',
        )
      : null;
  return [
    shared,
    scope.kernel >= 0 ? part('What limits it', findings(scope)) : null,
    part('Speed of light', speedOfLight(scope)),
    part('Roofline', rooflineOf(scope, pick)),
    part('Stalls', scope.kernel < 0 ? stallTotal(scope) : null, overTime(scope)),
    part('Occupancy', occupancy(scope)),
    part('Instruction mix', instructionMix(scope)),
    part('Memory chart', memoryChart(scope)),
    part('Latencies', latencies(scope)),
    part('DRAM channels', dramChannels(scope)),
    part('Networks and links', loadMap(scope), fabricMap(scope.result)),
    part('Source', sourceView(scope)),
    part('Counters', allCounters(scope)),
  ];
}

