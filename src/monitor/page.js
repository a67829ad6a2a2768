// page.js: the live page. It asks for a snapshot twice a second and draws it; commands need the token behind '#'.
'use strict';

const FS = 1e15;
const $ = id => document.getElementById(id);
const token = new URLSearchParams(location.hash.slice(1)).get('token');
let last = null, failures = 0, chosen = '';

function count(n) { return Math.round(n).toLocaleString('en-US'); }

function time(fs) {
  const units = [['s', 1e15], ['ms', 1e12], ['us', 1e9], ['ns', 1e6]];
  for (const [name, size] of units) if (fs >= size) return (fs / size).toPrecision(4) + ' ' + name;
  return fs + ' fs';
}

function seconds(s) {
  if (!isFinite(s)) return 'unknown';
  if (s < 90) return s.toFixed(s < 10 ? 1 : 0) + ' s';
  return s < 5400 ? Math.round(s / 60) + ' min' : (s / 3600).toFixed(1) + ' h';
}

function bytes(n) { return n > 1e9 ? (n / 1e9).toFixed(2) + ' GB' : (n / 1e6).toFixed(0) + ' MB'; }

function put(parent, tag, text, name) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (name) e.className = name;
  parent.append(e);
  return e;
}

function fraction(s) {
  if (s.state === 'done') return 1;
  if (s.until_fs > 0) return s.time_fs / s.until_fs;
  return s.kernels_all > 0 ? s.kernels_done / s.kernels_all : -1;
}

function showProgress(s) {
  const done = fraction(s), bar = $('bar');
  bar.className = done < 0 ? 'unknown' : '';
  $('fill').style.width = done < 0 ? '' : 100 * Math.min(done, 1) + '%';
  if (done >= 0) bar.setAttribute('aria-valuenow', Math.round(100 * done)); else bar.removeAttribute('aria-valuenow');
  const left = done > 0 && s.state === 'running' ? s.wall_seconds * (1 - done) / done : NaN;
  const cycles = s.fs_per_1000_cycles ? s.time_fs / s.fs_per_1000_cycles * 1000 : 0;
  const list = [
    ['Simulated', time(s.time_fs) + (cycles ? ', ' + count(cycles) + ' cycles' : '')],
    ['Rate', s.fs_per_1000_cycles ? count(s.fs_per_second / s.fs_per_1000_cycles * 1000) + ' cycles/s, ' +
      count(s.events_per_second) + ' events/s' : count(s.events_per_second) + ' events/s'],
    ['Kernels done', count(s.kernels_done) + (s.kernels_all ? ' of ' + count(s.kernels_all) : '')],
    ['Host time', seconds(s.wall_seconds)],
    ['Time left', s.state === 'running' ? seconds(left) : '-'],
    ['Threads', count(s.threads)],
  ];
  const dl = $('numbers');
  dl.replaceChildren();
  for (const [name, value] of list) { put(dl, 'dt', name); put(dl, 'dd', value); }
}

// Sums of the newest whole interval, over all GPUs.
function newest(series) {
  const at = Math.max(0, series.intervals - (last.state === 'running' ? 2 : 1)), sums = new Map();
  series.columns.forEach((c, i) => sums.set(c.type + '.' + c.name, (sums.get(c.type + '.' + c.name) || 0) + (series.values[i][at] || 0)));
  return sums;
}

function showStalls(s) {
  const box = $('stalls');
  box.replaceChildren();
  if (!s.series || s.series.intervals === 0) { put(box, 'p', 'Nothing was counted yet.', 'quiet'); return; }
  const sums = newest(s.series), rows = [];
  let whole = 0;
  for (const [name, value] of sums) {
    if (/^core\/.*\.issue_slots$/.test(name) || /^cu\/.*\.resident_cycles$/.test(name)) whole += value;
    const m = /^(?:core\/.*\.(issued|stack_(\w+))|cu\/.*\.(active_cycles|stall_(\w+)))$/.exec(name);
    if (m) rows.push([m[2] || m[4] || 'issued', value]);
  }
  if (whole === 0) { put(box, 'p', 'No core had a warp in the last interval.', 'quiet'); return; }
  rows.sort((a, b) => b[1] - a[1]);
  for (const [name, value] of rows) {
    if (value === 0) continue;
    const row = put(box, 'div', undefined, 'row'), share = Math.min(1, value / whole);
    put(row, 'span', name);
    put(put(row, 'div'), 'i').style.width = 100 * share + '%';
    put(row, 'span', (100 * share).toFixed(1) + '%');
  }
}

function showTable(id, rows) {
  const body = $(id);
  body.replaceChildren();
  for (const cells of rows) { const tr = put(body, 'tr'); for (const c of cells) put(tr, 'td', c); }
  if (rows.length === 0) put(put(body, 'tr'), 'td', 'none', 'quiet').colSpan = 5;
}

function name(c) { return (c.gpu !== undefined ? 'gpu' + c.gpu + ' ' : '') + c.type + '.' + c.name; }

function fillMetrics(series) {
  const select = $('metric'), names = series.columns.map(name);
  if (select.options.length === names.length) return;
  select.replaceChildren();
  for (const n of names) put(select, 'option', n).value = n;
  chosen = chosen || names.find(n => /issued$|active_cycles$/.test(n)) || names[0];
  select.value = chosen;
}

function drawChart(series) {
  const at = series.columns.findIndex(c => name(c) === chosen);
  if (at < 0) return;
  const values = series.values[at].slice(0, series.intervals).map(v => v || 0), canvas = $('chart');
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = 180;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const g = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
  const top = Math.max(...values, 1), x = i => 40 + (width - 50) * (values.length > 1 ? i / (values.length - 1) : 0);
  const y = v => height - 20 - (height - 35) * v / top;
  g.scale(scale, scale);
  g.strokeStyle = style.getPropertyValue('--line');
  g.fillStyle = style.getPropertyValue('--quiet');
  g.font = '11px system-ui, sans-serif';
  for (const part of [0, 0.5, 1]) {
    g.beginPath(); g.moveTo(40, y(part * top)); g.lineTo(width - 10, y(part * top)); g.stroke();
    g.fillText(compact(part * top), 2, y(part * top) + 4);
  }
  g.fillText('0', 40, height - 5);
  const end = time(series.every_fs * values.length);
  g.fillText(end, width - 12 - g.measureText(end).width, height - 5);
  g.strokeStyle = style.getPropertyValue('--bar');
  g.lineWidth = 2;
  g.beginPath();
  values.forEach((v, i) => i === 0 ? g.moveTo(x(i), y(v)) : g.lineTo(x(i), y(v)));
  g.stroke();
  $('chart-text').textContent = 'Per interval of ' + time(series.every_fs) + ': now ' + count(values[values.length - 1] || 0) +
    ', most ' + count(top) + ' ' + (series.columns[at].unit || '');
}

function compact(n) { return n >= 1e6 ? (n / 1e6).toPrecision(3) + 'M' : n >= 1e3 ? (n / 1e3).toPrecision(3) + 'k' : n.toPrecision(2).replace(/\.0+$/, ''); }

function showHost(s) {
  const box = $('host');
  box.replaceChildren();
  put(box, 'p', 'Memory ' + bytes(s.host.memory_bytes) + '. CPU time of each thread:');
  const most = Math.max(...s.host.thread_seconds, 1e-9);
  s.host.thread_seconds.forEach((t, i) => {
    const row = put(box, 'div', undefined, 'row');
    put(row, 'span', 'thread ' + i);
    put(put(row, 'div'), 'i').style.width = 100 * t / most + '%';
    put(row, 'span', t.toFixed(1) + ' s');
  });
}

function show(s) {
  last = s;
  $('workload').textContent = s.workload || 'Lockstep';
  $('platform').textContent = s.platform;
  document.title = s.state + ': ' + (s.workload || 'Lockstep');
  $('state').textContent = s.state;
  $('state').className = 'badge ' + s.state;
  $('controls').hidden = !(s.control && token);
  $('readonly').hidden = s.control;
  const over = s.state !== 'running' && s.state !== 'paused';
  $('pause').disabled = s.state !== 'running';
  $('continue').disabled = $('step').disabled = s.state !== 'paused';
  $('stop').disabled = over;
  showProgress(s);
  showStalls(s);
  showTable('kernels', s.last_kernels.slice().reverse().map(k => [k.number, k.name, k.gpu, time(k.time_fs)]));
  showTable('links', s.links.map(l => [l.from, l.to, l.used + ' of ' + l.entries + (l.waits ? ', a sender waits' : ''), count(l.messages), l.name]));
  showHost(s);
  if (s.series && s.series.intervals > 0) { fillMetrics(s.series); drawChart(s.series); }
}

async function poll() {
  try {
    const answer = await fetch('/api/state');
    if (answer.ok && answer.status === 200) show(await answer.json());
    failures = 0;
  } catch (e) {
    if (++failures > 2) {
      const over = last && last.state !== 'running' && last.state !== 'paused';
      $('state').textContent = over ? last.state + ', the run has ended' : 'connection lost';
      $('state').className = 'badge lost';
    }
  }
  setTimeout(poll, failures > 2 ? 3000 : 500);
}

async function command(path) {
  const answer = await fetch(path, { method: 'POST', headers: { 'X-Lockstep-Token': token } });
  $('said').textContent = answer.ok ? '' : await answer.text();
}

$('pause').addEventListener('click', () => command('/api/pause'));
$('continue').addEventListener('click', () => command('/api/continue'));
$('step').addEventListener('click', () => command('/api/step?time=' + encodeURIComponent($('step-time').value)));
$('stop').addEventListener('click', () => command('/api/stop'));
$('metric').addEventListener('change', e => { chosen = e.target.value; if (last && last.series) drawChart(last.series); });
$('load-waits').addEventListener('click', async () => {
  for (let i = 0; i < 10; i++) {
    const answer = await fetch('/api/waits');
    if (answer.status === 200) { $('waits').textContent = await answer.text(); if (i > 0) return; }
    await new Promise(done => setTimeout(done, 300));
  }
});
poll();
