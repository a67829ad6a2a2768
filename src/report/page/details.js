/* details.js: parts of the section Details: speed of light, roofline, stalls, occupancy, instruction mix. */
function stallTotal(scope) {
  const s = stallsOf(scope);
  if (!s) return null;
  const rows = s.list.map((x) => ({
    ...x,
    name: reasonText[x.reason] || x.reason,
    color: reasonColor[x.reason] ?? 9,
    label: percent(x.share),
  }));
  const table = rows.map((x) => [x.name, count(x.value), percent(x.share)]);
  if (s.parts) {
    return figure(
      'Issue slots of cores that have a warp, by what happened in them',
      el(
        'div',
        null,
        stackBar('Stall stack: ' + rows.map((x) => x.name + ' ' + x.label).join(', '), rows),
        legend(rows.map((x) => [x.name, x.color, x.label])),
      ),
      ['Reason', 'Slots', 'Share'],
      table,
    );
  }
  return figure(
    'Cycles of compute units that have a wave; one cycle can have several reasons',
    barChart(
      'Cycles by reason: ' + rows.map((x) => x.name + ' ' + x.label).join(', '),
      rows.map((x) => ({ name: x.name, value: x.share, label: x.label, color: x.color })),
      1,
    ),
    ['Reason', 'Cycles', 'Share'],
    table,
  );
}

function seriesSums(scope, family, names) {
  const s = scope.result.series;
  if (!s) return [];
  const gpu = gpuOf(scope),
    out = [];
  for (const name of names) {
    const columns = s.columns.filter(
      (c) => c.type.split('/')[0] === family && c.name === name && (gpu < 0 || c.gpu < 0 || c.gpu === gpu),
    );
    if (columns.length)
      out.push({ name, values: columns[0].values.map((_, i) => sum(columns.map((c) => c.values[i]))) });
  }
  return out;
}
/* Intervals of the kernel with one on each side, or all. */
function windowOf(scope) {
  const s = scope.result.series,
    k = scope.result.kernels;
  if (scope.kernel < 0) return { from: 0, to: Infinity };
  const from = Math.max(0, Math.floor(k.begin_ns[scope.kernel] / s.every_ns)),
    to = Math.ceil((k.begin_ns[scope.kernel] + k.ns[scope.kernel]) / s.every_ns);
  return { from, to: Math.max(to, from + 1) };
}
const dashes = ['', '7 3', '2 3', '9 3 2 3', '5 2', '1 2'];
function overTime(scope) {
  const s = scope.result.series;
  if (!s) return [note('No metrics over time: run with --series-every to have them.')];
  const amd = vendorOf(scope.result) === 'amd',
    family = amd ? 'cu' : 'core',
    w = windowOf(scope);
  const cut = (v) => v.slice(w.from, w.to),
    options = { from: w.from * s.every_ns };
  if (scope.kernel >= 0 && w.to - w.from < 3)
    return [note('The kernel is shorter than three intervals of the series (' + time(s.every_ns) + ' each).')];
  const own = (prefix) => [
    ...new Set(
      s.columns.filter((c) => c.type.split('/')[0] === family && c.name.startsWith(prefix)).map((c) => c.name),
    ),
  ];
  const names = own('stall_').length ? own('stall_') : own('stack_'),
    parts = !amd && own('stall_').length > 0;
  const whole = seriesSums(scope, family, [amd ? 'resident_cycles' : 'issue_slots'])[0];
  const out = [];
  if (whole) {
    const columns = seriesSums(scope, family, [amd ? 'active_cycles' : 'issued', ...names]).map((c, i) => ({
      name: reasonText[reasonOf(c.name)] || c.name,
      color: reasonColor[reasonOf(c.name)] ?? 9,
      dash: parts || !i ? null : dashes[i % dashes.length],
      values: cut(c.values.map((v, j) => atMost1(share(v, whole.values[j])))),
    }));
    out.push(
      figure(
        (amd ? 'Cycles of compute units with a wave' : 'Issue slots') +
          ' by reason, in intervals of ' +
          time(s.every_ns) +
          (parts
            ? ''
            : amd
              ? '; one cycle can have several reasons'
              : '; a slot counts for every reason that some warp had'),
        el(
          'div',
          null,
          timeChart('Stalls over time', columns, s.every_ns, {
            ...options,
            stack: parts,
            max: 1,
            format: (v) => percent(v, 0),
          }),
          legend(columns.map((c) => [c.name, c.color])),
        ),
        ['Reason', 'Mean', 'Most in one interval'],
        columns.map((c) => [
          c.name,
          percent(sum(c.values) / c.values.filter(isNumber).length),
          percent(Math.max(0, ...c.values.filter(isNumber))),
        ]),
      ),
    );
  }
  const dram = seriesSums(scope, 'dram', ['reads', 'writes']),
    per = sectorBytesOfDram(scope);
  const moved = dram.map((c, i) => ({
    name: 'DRAM ' + c.name,
    color: i,
    dash: i ? '6 4' : null,
    values: cut(c.values).map((v) => (v * per) / s.every_ns),
  }));
  const link = s.columns.filter((c) => c.type.startsWith('fabric.link/') && c.name.endsWith('_bytes'));
  if (link.length && scope.kernel < 0)
    moved.push({
      name: 'fabric links',
      color: 3,
      dash: '2 3',
      values: link[0].values.map((_, i) => sum(link.map((c) => c.values[i])) / s.every_ns),
    });
  const copies = seriesSums(scope, 'dma', ['bytes_in', 'bytes_out']);
  if (copies.length && scope.kernel < 0)
    moved.push({
      name: 'copies',
      color: 4,
      dash: '8 3 2 3',
      values: copies[0].values.map((_, i) => sum(copies.map((c) => c.values[i])) / s.every_ns),
    });
  if (moved.length)
    out.push(
      figure(
        'Bytes moved over time',
        el(
          'div',
          null,
          timeChart('Bytes over time', moved, s.every_ns, { ...options, format: rate }),
          legend(moved.map((c) => [c.name, c.color])),
        ),
        ['Path', 'Mean', 'Most in one interval'],
        moved.map((c) => [
          c.name,
          rate(sum(c.values) / c.values.length),
          rate(Math.max(...c.values.filter(isNumber))),
        ]),
      ),
    );
  return out;
}
/* DRAM counts in atoms of 32 bytes on both machines (metrics of dram/bank). */
const sectorBytesOfDram = () => 32;

function rooflineOf(scope, pick) {
  const r = scope.result,
    ns = nsOf(scope),
    t = trafficOf(scope),
    work = arithmeticOf(scope),
    flops = work.flops;
  if (!(flops > 0)) return null;
  const peaks = work.types.map(([n, , peak]) => [n, peak]).filter((p) => p[1] > 0);
  const seen = new Map();
  for (const [n, v] of peaks)
    seen.set(Math.round(v), seen.has(Math.round(v)) ? seen.get(Math.round(v)) + ' and ' + n : n);
  const roofs = { flops: [...seen.entries()].map(([v, n]) => [n, v]), bytes: [] };
  for (const [name, v, color] of [
    ['L1', work.l1, 4],
    ['L2', work.l2, 3],
    ['DRAM', work.dram, 0],
  ])
    if (v > 0) roofs.bytes.push([name, v, color]);
  if (!roofs.flops.length || !roofs.bytes.length) return null;
  const points = [];
  for (const [name, moved, color] of [
    ['L1', t.l1, 4],
    ['L2', t.l2, 3],
    ['DRAM', t.dram, 0],
  ])
    if (moved > 0)
      points.push({ name: name + ' bytes', text: name, intensity: flops / moved, flops: flops / ns, color });
  if (scope.kernel < 0)
    r.kernels.id.forEach((id, i) => {
      const s = { result: r, kernel: i, gpu: -1 };
      const here = r.kernels.values[i] ? arithmeticOf(s).flops : 0;
      if (points.length < 200 && here > 0 && trafficOf(s).dram > 0)
        points.push({
          name: 'kernel ' + id + ' ' + shortName(nameOf(r, i)),
          intensity: here / trafficOf(s).dram,
          flops: here / nsOf(s),
          color: 7,
          small: true,
        });
    });
  return figure(
    'Floating-point operations per byte of L1, L2 and DRAM, under the roofs of each' +
      (scope.kernel < 0 ? '; small dots are kernels (DRAM)' : ''),
    roofline('Hierarchical roofline', roofs, points),
    ['Level', 'FLOP per byte', 'FLOP/s'],
    points.filter((p) => !p.small).map((p) => [p.name, count(p.intensity), si(p.flops * 1e9)]),
  );
}

function speedOfLight(scope) {
  const rows = speedOf(scope);
  return rows.length
    ? figure(
        'Shares of what the machine can do at most',
        barChart(
          'Speed of light: ' + rows.map((x) => x.name + ' ' + percent(x.value)).join(', '),
          rows.map((x) => ({ ...x, label: percent(x.value), color: x.value > 0.8 ? 1 : 0 })),
          1,
        ),
        ['Part', 'Share', 'Meaning'],
        rows.map((x) => [x.name, percent(x.value), x.help]),
      )
    : null;
}

function occupancy(scope) {
  const o = occupancyOf(scope);
  if (!isNumber(o.share)) return null;
  const rows = [{ name: 'reached', value: o.share, label: percent(o.share), color: 0 }];
  if (isNumber(o.theoretical))
    rows.push({
      name: 'would fit at once',
      value: share(o.theoretical, o.slots),
      label: percent(share(o.theoretical, o.slots)),
      color: 2,
    });
  const all = sum(o.limits.map((l) => l[1])),
    top = o.limits.slice().sort((a, b) => b[1] - a[1])[0];
  return [
    el(
      'p',
      null,
      count(o.warps) + ' of ' + count(o.slots) + ' ' + o.unit + ' on a core that has some. ',
      top
        ? 'Limited by ' + top[0] + ' for ' + percent(top[1] / all, 0) + ' of the ' + o.limitUnit + '.'
        : o.nothing || '',
    ),
    figure(
      'Occupancy',
      barChart('Occupancy', rows, 1),
      ['Kind', 'Share'],
      rows.map((x) => [x.name, x.label]),
    ),
    o.limits.length
      ? figure(
          'Limiters (' + o.limitUnit + ')',
          barChart(
            'Limiters of occupancy',
            o.limits.map(([name, v]) => ({ name, value: v, label: percent(v / all), color: 1 })),
          ),
          ['Limiter', 'Count'],
          o.limits.map((l) => [l[0], count(l[1])]),
        )
      : null,
  ];
}

function instructionMix(scope) {
  const amd = vendorOf(scope.result) === 'amd',
    prefix = amd ? 'instructions_' : 'issued_',
    family = amd ? 'cu' : 'core';
  const rows = namesOf(scope.result, family, prefix)
    .map((n) => ({ name: n.slice(prefix.length).replace(/_/g, ' '), value: get0(scope, family, n) }))
    .filter((x) => x.value > 0)
    .sort((a, b) => b.value - a.value);
  const all = sum(rows.map((x) => x.value));
  if (!rows.length) return null;
  const lanes = amd
    ? NaN
    : share(get(scope, 'core', 'thread_instructions'), 32 * get(scope, 'core', 'warp_instructions'));
  return [
    isNumber(lanes) ? el('p', null, percent(lanes) + ' of the lanes of executed instructions were active.') : null,
    figure(
      'Executed ' + (amd ? 'wave' : 'warp') + ' instructions by class',
      barChart(
        'Instruction mix',
        rows.map((x) => ({ ...x, label: percent(x.value / all) })),
      ),
      ['Class', 'Instructions', 'Share'],
      rows.map((x) => [x.name, count(x.value), percent(x.value / all)]),
    ),
  ];
}

