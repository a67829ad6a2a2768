/* table.js: tables to sort and filter. Columns: {name, value(row), text(row), number, help, title(row), row: true for the
 * column that names the row, bar(row) for a share from 0 to 1 behind the number, code: true for a text of fixed width,
 * node(row) for elements in place of the text}. The element has reveal(row). */
function dataTable(caption, columns, rows, options = {}) {
  const state = { column: options.sort ?? -1, down: options.down ?? true, words: [], shown: options.shown || 100 };
  const body = el('tbody');
  let drawn = new Map();
  const status = el('p', { class: 'note', role: 'status', 'aria-live': 'polite' });
  const more = el('button', {
    type: 'button',
    class: 'more',
    on: {
      click: () => {
        state.shown *= 4;
        draw();
      },
    },
  });
  const heads = columns.map((c, i) =>
    el(
      'th',
      { scope: 'col', class: c.number ? 'n' : null },
      el(
        'button',
        {
          type: 'button',
          class: 'sort',
          title: c.help || null,
          on: { click: () => sortBy(i) },
        },
        c.name,
        el('span', { class: 'arrow', 'aria-hidden': 'true' }),
      ),
    ),
  );
  const table = el(
    'table',
    { class: 'data' },
    el('caption', { class: 'quiet' }, caption),
    el('thead', null, el('tr', null, heads)),
    body,
  );
  const filterId = newId('filter');
  const filter = el('input', {
    id: filterId,
    type: 'search',
    autocomplete: 'off',
    on: {
      input: () => {
        state.words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        draw();
      },
    },
  });

  function sortBy(i) {
    state.down = state.column === i ? !state.down : Boolean(columns[i].number);
    state.column = i;
    draw();
  }
  function compare(a, b) {
    const c = columns[state.column];
    const x = c.value(a),
      y = c.value(b);
    const missing = (v) => v === null || v === undefined || Number.isNaN(v);
    if (missing(x) || missing(y)) return missing(x) - missing(y);
    const order =
      typeof x === 'number' && typeof y === 'number'
        ? x - y
        : String(x).localeCompare(String(y), 'en', { numeric: true });
    return state.down ? -order : order;
  }
  const textOf = (c, row) => (c.text ? c.text(row) : String(c.value(row) ?? ''));
  function cell(c, row) {
    const text = textOf(c, row);
    const inner = c.node
      ? c.node(row)
      : c.code
        ? el('code', null, text)
        : c.link
          ? el('button', { type: 'button', class: 'link', on: { click: () => c.link(row) } }, text)
          : text;
    const width = c.bar ? c.bar(row) : NaN;
    const attributes = {
      class: c.number ? 'n' : c.wrap ? 'wrap' : null,
      title: c.title ? c.title(row) : null,
      style: isNumber(width) ? '--w:' + (100 * Math.max(0, Math.min(1, width))).toFixed(1) + '%' : null,
    };
    if (isNumber(width)) attributes.class = 'n bar';
    return c.row ? el('th', { ...attributes, scope: 'row' }, inner) : el('td', attributes, inner);
  }
  function draw() {
    const hits = rows.filter((row) => {
      const text = columns
        .map((c) => (c.filter ? c.filter(row) : textOf(c, row)))
        .join(' ')
        .toLowerCase();
      return state.words.every((w) => text.includes(w));
    });
    if (state.column >= 0) hits.sort(compare);
    heads.forEach((h, i) => {
      if (i === state.column) h.setAttribute('aria-sort', state.down ? 'descending' : 'ascending');
      else h.removeAttribute('aria-sort');
    });
    drawn = new Map(
      hits.slice(0, state.shown).map((row) => [
        row,
        el(
          'tr',
          null,
          columns.map((c) => cell(c, row)),
        ),
      ]),
    );
    body.replaceChildren(...drawn.values());
    status.textContent =
      hits.length === rows.length
        ? count(rows.length) + ' rows'
        : count(hits.length) + ' of ' + count(rows.length) + ' rows';
    more.hidden = hits.length <= state.shown;
    more.textContent = 'Show more of ' + count(hits.length) + ' rows';
  }
  draw();
  const shell = el(
    'div',
    { class: 'table' },
    rows.length > 8 ? el('div', { class: 'tools' }, el('label', { for: filterId }, 'Filter'), filter, status) : null,
    el('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': caption }, table),
    more,
  );
  /* Shows a row, also one that is filtered or too far down, and gives it the focus. */
  shell.reveal = (row) => {
    if (!drawn.has(row)) {
      filter.value = '';
      Object.assign(state, { words: [], shown: rows.length });
      draw();
    }
    const line = drawn.get(row);
    for (const other of body.querySelectorAll('.marked')) other.classList.remove('marked');
    line.classList.add('marked');
    line.setAttribute('tabindex', '-1');
    line.scrollIntoView({ block: 'center' });
    line.focus({ preventScroll: true });
  };
  return shell;
}
