/* source.js: the section Source: instructions of a kernel with their cost, stalls, lanes, coalescing and bank conflicts, and
 * the same by source line. */
const SOURCE_FIXED = ['executed', 'lanes', 'bytes', 'requests', 'hits', 'conflicts'];

/* Rows of the data as objects; a row ends with its last stall that is not zero. */
function sourceRows(source, kernel) {
  return kernel.rows.map((r) => {
    const row = { pc: r[0], text: r[1], file: r[2], line: r[3], stalls: source.reasons.map((_, i) => r[10 + i] || 0) };
    SOURCE_FIXED.forEach((name, i) => (row[name] = r[4 + i]));
    row.stalled = sum(row.stalls);
    row.cost = row.executed + row.stalled;
    return row;
  });
}
const mostOf = (row) => row.stalls.indexOf(Math.max(...row.stalls));
const stallName = (source, row) => (row.stalled > 0 ? source.reasons[mostOf(row)] : '');
const fileName = (source, row) => source.files[row.file].replace(/^.*\//, '');

/* A bar as long as the stalls are against the most of one row, in parts by reason. */
function stallBar(source, row, most) {
  const parts = row.stalls
    .map((value, i) => ({ value, reason: source.reasons[i] }))
    .filter((p) => p.value > 0)
    .sort((a, b) => b.value - a.value);
  const words = parts.map((p) => (reasonText[p.reason] || p.reason) + ' ' + count(p.value)).join(', ');
  return el(
    'span',
    { class: 'stalls', title: words || null },
    parts.map((p) =>
      el('span', {
        style:
          'width:' + ((100 * p.value) / most).toFixed(2) + '%;background:var(--c' + (reasonColor[p.reason] ?? 9) + ')',
      }),
    ),
  );
}
function coalescingOf(source, row) {
  return row.bytes > 0 ? atMost1(share(row.bytes, row.requests * source.request_bytes)) : NaN;
}

/* Hits are counted for loads. */
const hitsOfLoad = (row) => (/^(ST|RED)/.test(row.text) ? NaN : share(row.hits, row.requests));

function sourceColumns(source, kernel, rows) {
  const all = kernel.cost || 1,
    most = Math.max(...rows.map((r) => r.stalled), 1);
  const optional = (there, column) => (rows.some(there) ? [column] : []);
  return [
    { name: 'Address', row: true, value: (r) => r.pc, text: (r) => '0x' + r.pc.toString(16).padStart(4, '0') },
    { name: 'Instruction', code: true, value: (r) => r.text },
    ...optional((r) => r.file >= 0, {
      name: 'Line',
      value: (r) => (r.file >= 0 ? fileName(source, r) + ':' + r.line : ''),
      title: (r) => (r.file >= 0 ? source.files[r.file] + ':' + r.line : null),
    }),
    {
      name: 'Cost',
      number: true,
      help: 'executions and stalls, of all instructions of the kernel',
      value: (r) => r.cost,
      text: (r) => percent(r.cost / all),
      bar: (r) => r.cost / Math.max(...rows.map((x) => x.cost), 1),
    },
    {
      name: 'Stalls',
      help: 'issue slots or cycles in which a warp or wave stood here and could not issue, by reason',
      value: (r) => r.stalled,
      number: true,
      text: (r) => count(r.stalled),
    },
    {
      name: 'By reason',
      value: (r) => stallName(source, r),
      node: (r) => [stallBar(source, r, most), ' ', stallName(source, r)],
    },
    { name: 'Executed', number: true, value: (r) => r.executed, text: (r) => count(r.executed) },
    {
      name: 'Lanes',
      number: true,
      help: 'active lanes of an execution',
      value: (r) => share(r.lanes, r.executed),
      text: (r) => (r.lanes ? share(r.lanes, r.executed).toFixed(1) : '–'),
    },
    ...optional((r) => r.bytes > 0, {
      name: 'Coalescing',
      number: true,
      help: 'bytes that lanes asked for, of the bytes of sectors or lines that they touched',
      value: (r) => coalescingOf(source, r),
      text: (r) => percent(coalescingOf(source, r), 0),
    }),
    ...optional((r) => r.hits > 0, {
      name: 'L1 hits',
      number: true,
      help: 'of the sectors of loads',
      value: (r) => hitsOfLoad(r),
      text: (r) => percent(hitsOfLoad(r), 0),
    }),
    ...optional((r) => r.conflicts > 0, {
      name: 'Bank conflicts',
      number: true,
      help: 'cycles that banks of shared memory or LDS needed beyond an access without conflicts',
      value: (r) => r.conflicts,
      text: (r) => (r.conflicts ? count(r.conflicts) : '–'),
    }),
  ];
}

/* Instructions of a line together, with the text of the line if the file could be read. */
function lineTable(source, kernel, rows) {
  const by = new Map(),
    texts = new Map(source.lines.map(([file, line, words]) => [file + ':' + line, words]));
  for (const r of rows) {
    if (r.file < 0) continue;
    const key = r.file + ':' + r.line;
    const e = by.get(key) || {
      file: r.file,
      line: r.line,
      words: texts.get(key) || '',
      instructions: 0,
      cost: 0,
      stalled: 0,
      stalls: r.stalls.map(() => 0),
    };
    e.instructions++;
    e.cost += r.cost;
    e.stalled += r.stalled;
    r.stalls.forEach((v, i) => (e.stalls[i] += v));
    by.set(key, e);
  }
  const lines = [...by.values()];
  if (!lines.length) return null;
  const most = Math.max(...lines.map((r) => r.stalled), 1),
    top = Math.max(...lines.map((r) => r.cost), 1);
  return dataTable(
    'Source lines of ' + shortName(kernel.name),
    [
      {
        name: 'Line',
        row: true,
        value: (r) => fileName(source, r) + ':' + r.line,
        title: (r) => source.files[r.file] + ':' + r.line,
      },
      { name: 'Source', code: true, value: (r) => r.words },
      {
        name: 'Cost',
        number: true,
        value: (r) => r.cost,
        text: (r) => percent(r.cost / (kernel.cost || 1)),
        bar: (r) => r.cost / top,
      },
      { name: 'Instructions', number: true, value: (r) => r.instructions },
      { name: 'Stalls', number: true, value: (r) => r.stalled, text: (r) => count(r.stalled) },
      {
        name: 'By reason',
        value: (r) => stallName(source, r),
        node: (r) => [stallBar(source, r, most), ' ', stallName(source, r)],
      },
    ],
    lines,
    { sort: 2, shown: 40 },
  );
}

/* One kernel: a line about it, the legend, buttons, tables. */
function sourceKernel(source, kernel) {
  const rows = sourceRows(source, kernel),
    hot = rows.slice().sort((a, b) => b.cost - a.cost),
    left = kernel.instructions - rows.length;
  const table = dataTable('Instructions of ' + shortName(kernel.name), sourceColumns(source, kernel, rows), rows, {
    shown: 200,
  });
  let next = 0;
  const jump = el(
    'button',
    {
      type: 'button',
      on: {
        click: () => {
          table.reveal(hot[next]);
          next = (next + 1) % Math.min(hot.length, 10);
          jump.textContent = next ? 'Next hottest (' + (next + 1) + ')' : 'Jump to hottest';
        },
      },
    },
    'Jump to hottest',
  );
  const used = source.reasons.filter((_, i) => rows.some((r) => r.stalls[i] > 0));
  return [
    el(
      'p',
      null,
      count(kernel.launches) + (kernel.launches === 1 ? ' launch, ' : ' launches, '),
      count(kernel.instructions) + ' instructions with counts',
      left ? '; ' + count(left) + ' that cost least are left out here, the result file has them' : '',
      '.',
    ),
    legend(used.map((name) => [reasonText[name] || name, reasonColor[name] ?? 9])),
    lineTable(source, kernel, rows),
    rows.length ? el('div', { class: 'tools' }, jump) : null,
    table,
  ];
}

function sourceSection(result) {
  const source = result.source;
  if (!source) return [note('No counts per instruction: run with --source to have them.')];
  const id = newId('kernel'),
    holder = el('div'),
    all = sum(source.kernels.map((k) => k.cost)) || 1;
  const draw = () =>
    holder.replaceChildren(...sourceKernel(source, source.kernels[Number(box.value)]).flat(9).filter(Boolean));
  const box = el(
    'select',
    { id, on: { change: draw } },
    source.kernels.map((k, i) =>
      el('option', { value: String(i) }, shortName(k.name) + ' (' + percent(k.cost / all, 0) + ' of the cost)'),
    ),
  );
  draw();
  return [
    el('div', { class: 'tools' }, el('label', { for: id }, 'Kernel'), box),
    source.kernels_left_out
      ? note(count(source.kernels_left_out) + ' kernels that cost least are left out here; the result file has them.')
      : null,
    holder,
  ];
}
