// sweep.js: the live page of a sweep. It asks for a snapshot twice a second and draws it; a stop needs the token behind '#'.
'use strict';

const $ = id => document.getElementById(id);
const token = new URLSearchParams(location.hash.slice(1)).get('token');
let last = null, failures = 0;

function count(n) { return Math.round(n).toLocaleString('en-US'); }

function time(ns) {
  for (const [name, size] of [['s', 1e9], ['ms', 1e6], ['us', 1e3]]) if (ns >= size) return (ns / size).toPrecision(4) + ' ' + name;
  return ns.toPrecision(3) + ' ns';
}

function seconds(s) {
  if (!isFinite(s)) return 'unknown';
  if (s < 90) return s.toFixed(s < 10 ? 1 : 0) + ' s';
  return s < 5400 ? Math.round(s / 60) + ' min' : (s / 3600).toFixed(1) + ' h';
}

function put(parent, tag, text, name) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (name) e.className = name;
  parent.append(e);
  return e;
}

function showTable(id, rows, columns) {
  const body = $(id);
  body.replaceChildren();
  for (const cells of rows) { const tr = put(body, 'tr'); for (const c of cells) put(tr, 'td', c); }
  if (rows.length === 0) put(put(body, 'tr'), 'td', 'none', 'quiet').colSpan = columns;
}

function showProgress(s) {
  const done = s.points > 0 ? (s.done_before + s.finished) / s.points : 1;
  $('fill').style.width = 100 * done + '%';
  $('bar').setAttribute('aria-valuenow', Math.round(100 * done));
  const left = s.points_per_second > 0 ? (s.to_run - s.finished) / s.points_per_second : NaN;
  const list = [
    ['Points done', count(s.done_before + s.finished - s.failed) + ' of ' + count(s.points)],
    ['Done before', count(s.done_before)],
    ['Run by other sweeps', count(s.by_others)],
    ['Failed', count(s.failed)],
    ['Running', count(s.running)],
    ['Rate', s.points_per_second >= 1 ? s.points_per_second.toFixed(1) + ' points/s' : (60 * s.points_per_second).toFixed(1) + ' points/min'],
    ['Host time', seconds(s.wall_seconds)],
    ['Time left', s.state === 'running' ? seconds(left) : '-'],
  ];
  const dl = $('numbers');
  dl.replaceChildren();
  for (const [name, value] of list) { put(dl, 'dt', name); put(dl, 'dd', value); }
}

function show(s) {
  last = s;
  $('database').textContent = s.database;
  $('platform').textContent = s.platform;
  document.title = s.state + ': ' + s.database;
  $('state').textContent = s.state;
  $('state').className = 'badge ' + s.state;
  $('controls').hidden = !(s.control && token);
  $('readonly').hidden = s.control;
  $('stop').disabled = s.state !== 'running';
  showProgress(s);
  showTable('workers', s.workers.map((w, i) => [i + 1, w.words || 'idle', w.words ? seconds(w.seconds) : '-', count(w.points)]), 4);
  showTable('best', s.best.map((b, i) => [i + 1, b.words, time(b.time_ns), b.cycles ? count(b.cycles) : '-']), 4);
  showTable('failed', s.failures.map(f => [f.words, f.error]), 2);
  $('host').textContent = 'Memory of the sweep itself: ' + (s.host.memory_bytes / 1e6).toFixed(0) + ' MB. Each worker is a process of its own.';
}

async function poll() {
  try {
    const answer = await fetch('/api/state');
    if (answer.ok && answer.status === 200) show(await answer.json());
    failures = 0;
  } catch (e) {
    if (++failures > 2) {
      $('state').textContent = last && last.state !== 'running' ? last.state + ', the sweep has ended' : 'connection lost';
      $('state').className = 'badge lost';
    }
  }
  setTimeout(poll, failures > 2 ? 3000 : 500);
}

$('stop').addEventListener('click', async () => {
  const answer = await fetch('/api/stop', { method: 'POST', headers: { 'X-Lockstep-Token': token } });
  $('said').textContent = answer.ok ? '' : await answer.text();
});
poll();
