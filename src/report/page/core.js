/* core.js: the data of the report, elements, numbers as people read them, and one place for errors. */
'use strict';
const DATA = JSON.parse(document.getElementById('data').textContent);
const RESULTS = DATA.results;

/* An element: el('td', {class: 'n'}, 'text', child...). Attributes that are null are left out. */
function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}
function svgEl(tag, attributes, ...children) {
  return fill(document.createElementNS('http:' + '//www.w3.org/2000/svg', tag), attributes, children);
}
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {}))
    if (name === 'on') for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, typeof value === 'number' ? String(Math.round(value * 100) / 100) : value);
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) node.append(child);
  return node;
}

const isNumber = (x) => typeof x === 'number' && isFinite(x);
/* Sums of numbers; those that are missing count nothing, and nothing at all is NaN. */
function sum(list) {
  const there = list.filter(isNumber);
  return there.length ? there.reduce((a, b) => a + b, 0) : NaN;
}
const share = (a, b) => (isNumber(a) && b > 0 ? a / b : NaN);
const atMost1 = (x) => (x > 1 ? 1 : x);

/* ------------------------------------------------------------------------------------------------ numbers */

const nbsp = '\u00a0';
function count(x) {
  if (!isNumber(x)) return '–';
  if (Number.isInteger(x)) return x.toLocaleString('en-US');
  const size = Math.abs(x);
  return size >= 1000
    ? Math.round(x).toLocaleString('en-US')
    : size >= 100
      ? x.toFixed(1)
      : size >= 1
        ? x.toFixed(2)
        : x === 0
          ? '0'
          : x.toPrecision(3);
}
function percent(x, digits = 1) {
  return isNumber(x) ? (100 * x).toFixed(digits) + nbsp + '%' : '–';
}
function scaled(x, steps) {
  if (!isNumber(x)) return '–';
  let [name, factor] = steps[0];
  for (const [n, f] of steps) if (Math.abs(x) >= f) [name, factor] = [n, f];
  const y = x / factor;
  return (
    (y === 0 ? '0' : Math.abs(y) >= 100 ? y.toFixed(0) : Math.abs(y) >= 10 ? y.toFixed(1) : y.toFixed(2)) +
    nbsp +
    name
  );
}
const time = (ns) =>
  scaled(ns, [
    ['ns', 1],
    ['µs', 1e3],
    ['ms', 1e6],
    ['s', 1e9],
  ]);
const bytes = (b) =>
  scaled(b, [
    ['B', 1],
    ['kB', 1e3],
    ['MB', 1e6],
    ['GB', 1e9],
    ['TB', 1e12],
  ]);
const rate = (gbs) => (isNumber(gbs) ? bytes(gbs * 1e9) + '/s' : '–');
const si = (x) =>
  scaled(x, [
    ['', 1],
    ['k', 1e3],
    ['M', 1e6],
    ['G', 1e9],
    ['T', 1e12],
  ]).trim();
function change(a, b) {
  if (!isNumber(a) || !isNumber(b)) return '–';
  if (a === b) return 'same';
  if (a === 0) return 'from 0';
  const part = (100 * (b - a)) / Math.abs(a);
  return (part > 0 ? '+' : '−') + Math.abs(part).toFixed(Math.abs(part) >= 100 ? 0 : 1) + nbsp + '%';
}

/* The name without parameters, as it stands in most tables; the whole one is in the title. */
function shortName(name) {
  const open = name.search(/[(]/);
  const text = open > 0 ? name.slice(0, open) : name;
  return text.length > 60 ? text.slice(0, 57) + '…' : text;
}

/* -------------------------------------------------------------------------------------------------- pieces */

let ids = 0;
const newId = (prefix) => prefix + ++ids;

function section(id, title, ...children) {
  return el('section', { id, 'aria-labelledby': id + '-h' }, el('h2', { id: id + '-h' }, title), ...children);
}
/* A part of a section; empty if it has nothing to show. */
function part(title, ...children) {
  const shown = children.flat().filter((c) => c);
  return shown.length ? el('div', { class: 'part' }, el('h3', null, title), ...shown) : null;
}
const note = (text) => el('p', { class: 'note' }, text);

/* A chart with its caption and the same numbers as a table. */
function figure(caption, chart, head, rows) {
  if (!chart) return null;
  return el(
    'figure',
    null,
    el('figcaption', null, caption),
    el('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': caption }, chart),
    rows && rows.length ? el('details', null, el('summary', null, 'Numbers'), plainTable(caption, head, rows)) : null,
  );
}
function plainTable(caption, head, rows) {
  return el(
    'div',
    { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': caption },
    el(
      'table',
      null,
      el('caption', { class: 'quiet' }, caption),
      el(
        'thead',
        null,
        el(
          'tr',
          null,
          head.map((h) => el('th', { scope: 'col' }, h)),
        ),
      ),
      el(
        'tbody',
        null,
        rows.map((r) =>
          el(
            'tr',
            null,
            r.map((c, i) =>
              i ? el('td', { class: /^[-–−+0-9]/.test(c) ? 'n' : null }, c) : el('th', { scope: 'row' }, c),
            ),
          ),
        ),
      ),
    ),
  );
}
function legend(entries) {
  return el(
    'ul',
    { class: 'legend' },
    entries.map(([name, color, value]) =>
      el(
        'li',
        null,
        el('span', { class: 'swatch', style: 'background:var(--c' + color + ')' }),
        name,
        value ? el('b', null, ' ' + value) : null,
      ),
    ),
  );
}
