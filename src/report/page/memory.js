/* memory.js: the memory chart: boxes of the machine, arrows with the bytes that crossed them, hit rates and use. */
function memoryChart(scope) {
  const r = scope.result,
    amd = vendorOf(r) === 'amd',
    t = trafficOf(scope),
    h = hitsOf(scope),
    ns = nsOf(scope);
  const gpu = gpuOf(scope),
    shapes = [],
    rows = [];
  const box = (x, y, w, hgt, name, lines, use) => {
    shapes.push(
      svgEl(
        'g',
        null,
        svgEl('rect', { x, y, width: w, height: hgt, rx: 6, class: 'box' }),
        isNumber(use)
          ? svgEl('rect', {
              x: x + 6,
              y: y + hgt - 10,
              width: (w - 12) * Math.min(1, use),
              height: 5,
              style: 'fill:var(--c1)',
            })
          : null,
        isNumber(use) ? svgEl('rect', { x: x + 6, y: y + hgt - 10, width: w - 12, height: 5, class: 'frame' }) : null,
        text(x + w / 2, y + 20, name, 'middle strong'),
        lines.map((l, i) => text(x + w / 2, y + 37 + i * 15, l, 'middle small')),
      ),
    );
    rows.push([name, lines.join(', ') || '–', isNumber(use) ? percent(use) + ' busy' : '–']);
  };
  const most = Math.max(t.l1 || 0, t.l2 || 0, t.dram || 0, 1);
  const arrow = (x1, y1, x2, y2, value, words, above, toLeft) => {
    const w = value > 0 ? 1 + 9 * Math.sqrt(value / most) : 0.75,
      dx = x2 - x1,
      dy = y2 - y1,
      long = Math.hypot(dx, dy) || 1;
    const ux = dx / long,
      uy = dy / long,
      head = 5 + w,
      ex = x2 - ux * head,
      ey = y2 - uy * head,
      half = head * 0.7;
    shapes.push(
      svgEl(
        'g',
        { class: value > 0 ? 'arrow' : 'arrow none' },
        svgEl('title', null, words),
        svgEl('line', { x1, y1, x2: ex, y2: ey, style: 'stroke-width:' + w.toFixed(1) }),
        svgEl('polygon', {
          points: [x2, y2, ex - uy * half, ey + ux * half, ex + uy * half, ey - ux * half]
            .map((v) => v.toFixed(1))
            .join(','),
        }),
        text(
          (x1 + x2) / 2 + (dx ? 0 : toLeft ? -8 : 8),
          (y1 + y2) / 2 + (dx ? (above ? -7 - w / 2 : 14 + w / 2) : 4),
          value > 0 ? bytes(value) : '0',
          dx ? 'middle small halo' : toLeft ? 'end small halo' : 'small halo',
        ),
      ),
    );
    rows.push([words, bytes(value), rate(value / ns)]);
  };
  const rwArrows = (x1, x2, y, read, write, from, to) => {
    arrow(x2, y - 12, x1, y - 12, read, to + ' to ' + from + ' (reads)', true);
    arrow(x1, y + 12, x2, y + 12, write, from + ' to ' + to + ' (writes)', false);
  };
  const sol = new Map(speedOf(scope).map((s) => [s.name, s.value]));
  const core = amd ? 'Compute units' : 'Cores',
    n = blockCount(scope, amd ? 'cu' : 'core');
  const many = r.gpus > 1;
  const hit = (x) => (isNumber(x) ? [percent(x) + ' hits'] : []);
  box(
    4,
    60,
    120,
    84,
    core,
    [
      isNumber(n) ? count(n) : '',
      (amd ? get0(scope, 'cu', 'instructions') : get0(scope, 'core', 'warp_instructions'))
        ? si(amd ? get(scope, 'cu', 'instructions') : get(scope, 'core', 'warp_instructions')) + ' instr.'
        : '',
    ],
    coresUse(scope),
  );
  box(222, 60, 110, 84, amd ? 'Vector L1' : 'L1', hit(h.l1), sol.get('L1'));
  rwArrows(124, 222, 102, t.l1r, t.l1w, core, 'L1');
  box(
    430,
    60,
    110,
    84,
    'L2',
    hit(h.l2).concat(
      isNumber(blockCount(scope, 'l2')) ? [count(blockCount(scope, 'l2')) + (amd ? ' slices' : ' partitions')] : [],
    ),
    sol.get('L2'),
  );
  if (amd) {
    box(222, 166, 110, 54, 'Scalar L1', hit(h.scalar));
    arrow(222, 193, 124, 132, t.scalar, 'Scalar L1 to ' + core, false);
    box(222, 238, 110, 54, 'Instructions', hit(h.code));
    arrow(222, 265, 112, 146, t.code, 'Instruction cache to ' + core, false);
  } else {
    const sharedAccesses = get0(scope, 'core', 'shared_accesses');
    box(222, 166, 110, 60, 'Shared memory', [
      si(sharedAccesses) + ' accesses',
      si(get0(scope, 'core', 'bank_conflict_cycles')) + ' conflict cycles',
    ]);
    shapes.push(line(124, 140, 222, 190, 'wire'));
  }
  rwArrows(332, 430, 102, t.l2r, t.l2w, 'L1', 'L2');
  const rows2 = get(scope, 'dram', 'row_hit_rate');
  box(
    620,
    60,
    98,
    84,
    'DRAM',
    [rate(t.dram / ns), isNumber(rows2) ? percent(rows2, 0) + ' row hits' : ''],
    sol.get('DRAM'),
  );
  rwArrows(540, 620, 102, t.dramr, t.dramw, 'L2', 'DRAM');
  let bottom = amd ? 300 : 234;
  const remote =
    get0(scope, 'rdma', 'bytes_in') +
    get0(scope, 'rdma', 'bytes_out') +
    get0(scope, 'peer', 'bytes_in') +
    get0(scope, 'peer', 'bytes_out');
  const copied = ['bytes_in', 'bytes_out', 'bytes_copied', 'bytes_filled'].map((m) => get0(scope, 'dma', m));
  if (sum(copied) > 0) {
    box(620, 186, 98, 60, 'Copies (DMA)', [bytes(copied[0]) + ' in', bytes(copied[1]) + ' out']);
    arrow(669, 186, 669, 146, copied[0], 'Copies into memory');
    bottom = Math.max(bottom, 250);
  }
  if (many && (remote > 0 || scope.kernel < 0)) {
    const family = get0(scope, 'rdma', 'bytes_in') > 0 || indexOf(r).families.has('rdma') ? 'rdma' : 'peer';
    const inBytes = get0(scope, family, 'bytes_in'),
      outBytes = get0(scope, family, 'bytes_out');
    box(
      430,
      186,
      110,
      72,
      'Other GPUs',
      [bytes(inBytes) + ' in', bytes(outBytes) + ' out'],
      sol.get('busiest fabric link'),
    );
    arrow(465, 186, 465, 146, inBytes, 'Other GPUs to L2', false, true);
    arrow(505, 146, 505, 186, outBytes, 'L2 to other GPUs');
    bottom = Math.max(bottom, 266);
  }
  const where =
    scope.kernel >= 0 && many
      ? 'GPU ' + gpu + ', kernel ' + r.kernels.id[scope.kernel]
      : scope.gpu >= 0
        ? 'GPU ' + scope.gpu
        : many
          ? 'All ' + r.gpus + ' GPUs together'
          : null;
  const chart = svg(
    WIDTH,
    bottom + 6,
    'Memory chart: ' +
      rows
        .map((x) => x.join(' '))
        .slice(0, 12)
        .join('; '),
    where ? text(4, 20, where, 'strong') : null,
    text(
      4,
      40,
      'Arrows carry bytes; their width grows with the square root. Bars below names: share of time busy.',
      'small',
    ),
    shapes,
  );
  return figure('Traffic of the machine', chart, ['Part or path', 'Value', 'Rate or use'], rows);
}

/* GPUs and links between them: a cell per link, from row to column. */
function fabricMap(result) {
  const type = Object.keys(result.blocks).find((t) => t.startsWith('fabric.link/'));
  if (!type) return null;
  const links = result.blocks[type],
    names = [];
  const ends = links.paths.map((p) => {
    const m = /([^.]+)-([^-.]+)$/.exec(p);
    return m ? [m[1], m[2]] : ['', ''];
  });
  for (const pair of ends) for (const x of pair) if (x && !names.includes(x)) names.push(x);
  names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const carried = links.paths.map(
    (_, i) =>
      sum(
        Object.entries(links)
          .filter(([m]) => m.endsWith('_bytes'))
          .map(([, v]) => v[i]),
      ) || 0,
  );
  const use = links.paths.map((_, i) =>
    links.busy_cycles && links.cycles ? share(links.busy_cycles[i], links.cycles[i]) : NaN,
  );
  const cells = names.map(() => names.map(() => null));
  ends.forEach(([a, b], i) => {
    if (b)
      cells[names.indexOf(a)][names.indexOf(b)] = {
        value: use[i] || 0,
        label: a + ' to ' + b + ': ' + bytes(carried[i]) + ', busy ' + percent(use[i]),
        short: percent(use[i], 0),
      };
  });
  const order = links.paths.map((_, i) => i).sort((a, b) => (use[b] || 0) - (use[a] || 0));
  return figure(
    'Links between GPUs, host and switches: share of time that each is busy, from row to column',
    heatMap('Heat map of fabric links', names, names, cells, 1),
    ['Link', 'Bytes', 'Busy'],
    order.map((i) => [links.paths[i], bytes(carried[i]), percent(use[i])]),
  );
}
