/* model.js: values of a scope, and quantities made of them. A scope is the run, one GPU of it, or one kernel: {result,
 * kernel: -1 or its index, gpu: -1 or its number}. Families are the part of a type before "/": "core" of "core/cycle". */
const indexes = new WeakMap();
function indexOf(result) {
  if (indexes.has(result)) return indexes.get(result);
  const families = new Map();
  for (const [type, list] of Object.entries(result.metrics)) {
    const family = type.split('/')[0];
    if (!families.has(family)) families.set(family, []);
    families.get(family).push({ type, at: new Map(list.map((m, i) => [m[0], i])) });
  }
  const config = new Map(result.config.map((row) => [row[0], row]));
  const index = { families, config };
  indexes.set(result, index);
  return index;
}
function valuesOf(scope) {
  const r = scope.result;
  if (scope.kernel >= 0) return r.kernels.values[scope.kernel] || {};
  return scope.gpu >= 0 && r.by_gpu ? r.by_gpu[scope.gpu] : r.run;
}
/* A number; of a counter in several types of a family their sum. NaN: not counted. Arrays of kernels end with their last
 * number that is not zero. */
function get(scope, family, name) {
  const values = valuesOf(scope);
  const found = [];
  for (const { type, at } of indexOf(scope.result).families.get(family) || []) {
    const i = at.get(name);
    if (i !== undefined && values[type]) found.push(values[type][i] ?? (scope.kernel >= 0 ? 0 : NaN));
  }
  return sum(found);
}
const get0 = (scope, family, name) => {
  const x = get(scope, family, name);
  return isNumber(x) ? x : 0;
};
function namesOf(result, family, prefix) {
  const names = [];
  for (const { at } of indexOf(result).families.get(family) || [])
    for (const name of at.keys()) if (name.startsWith(prefix) && !names.includes(name)) names.push(name);
  return names;
}
function key(result, name) {
  const config = indexOf(result).config;
  const row = config.get(name) || config.get('gpu0.' + name) || config.get('gpus.' + name);
  return row ? row[1] : null;
}
const keyNumber = (result, name) => {
  const v = key(result, name);
  return v === null ? NaN : parseFloat(v);
};

/* Blocks of a family, of one GPU if the scope is of one: {type, paths, metric: values}. */
function blocksOf(scope, family) {
  const type = Object.keys(scope.result.blocks).find((t) => t.split('/')[0] === family);
  if (!type) return null;
  const all = scope.result.blocks[type];
  const gpu = gpuOf(scope);
  if (gpu < 0 || scope.result.gpus < 2) return { type, ...all };
  const keep = all.paths.map((p, i) => (p.startsWith('gpu' + gpu + '.') ? i : -1)).filter((i) => i >= 0);
  const out = { type };
  for (const [name, list] of Object.entries(all)) out[name] = keep.map((i) => list[i]);
  return out;
}
const blockCount = (scope, family) => {
  const b = blocksOf(scope, family);
  return b ? b.paths.length : NaN;
};
const gpuOf = (scope) => (scope.kernel >= 0 ? scope.result.kernels.gpu[scope.kernel] : scope.gpu);
const vendorOf = (result) =>
  indexOf(result).families.has('core') ? 'nvidia' : indexOf(result).families.has('cu') ? 'amd' : '';

/* Time with a kernel at work: those side by side count once. */
function busyNs(result, gpu = -1) {
  const k = result.kernels;
  const spans = k.begin_ns
    .map((b, i) => [b, b + k.ns[i], k.gpu[i]])
    .filter((s) => gpu < 0 || s[2] === gpu)
    .sort((a, b) => a[0] - b[0]);
  let end = -1,
    total = 0;
  for (const [from, to] of spans)
    if (to > end) {
      total += to - Math.max(from, end);
      end = to;
    }
  return total;
}
function nsOf(scope) {
  if (scope.kernel >= 0) return scope.result.kernels.ns[scope.kernel];
  return busyNs(scope.result, scope.gpu) || scope.result.end_ns;
}
const nameOf = (result, kernel) => result.kernels.names[result.kernels.name[kernel]];
const hasDetail = (scope) => scope.kernel < 0 || scope.result.kernels.values[scope.kernel] !== null;

/* ------------------------------------------------------------------------------------------------- stalls */

const reasonText = {
  issued: 'issued',
  active_cycles: 'issued',
  memory: 'memory',
  idle: 'no warp',
  fetch: 'fetch',
  barrier: 'barrier',
  fence: 'fence',
  async: 'asynchronous copy',
  dependence: 'dependence',
  unit: 'busy unit',
  vmcnt: 'vector memory (vmcnt)',
  lgkmcnt: 'scalar and LDS (lgkmcnt)',
  expcnt: 'exports (expcnt)',
  vscnt: 'vector stores (vscnt)',
  sleep: 'sleep',
  valu: 'vector ALU busy',
  scalar: 'scalar ALU busy',
  vmem: 'memory path busy',
  lds: 'LDS busy',
  branch: 'branch unit busy',
};
const reasonColor = {
  issued: 2,
  active_cycles: 2,
  memory: 0,
  vmcnt: 0,
  idle: 7,
  fetch: 4,
  barrier: 3,
  fence: 8,
  async: 5,
  lgkmcnt: 5,
  dependence: 1,
  unit: 6,
  valu: 6,
  vscnt: 9,
  scalar: 9,
  vmem: 8,
  lds: 3,
  branch: 8,
  sleep: 7,
  expcnt: 9,
};
const reasonOf = (name) => name.replace(/^sta(ll|ck)_/, '');

/* Issue slots by what happened in them. NVIDIA: parts of a whole. AMD: a cycle can have several reasons. */
function stallsOf(scope) {
  const amd = vendorOf(scope.result) === 'amd',
    family = amd ? 'cu' : 'core';
  const whole = get(scope, family, amd ? 'resident_cycles' : 'issue_slots');
  if (!(whole > 0)) return null;
  const names = [amd ? 'active_cycles' : 'issued', ...namesOf(scope.result, family, 'stall_')];
  const list = names
    .map((n) => ({ name: n, reason: reasonOf(n), value: get0(scope, family, n) }))
    .filter((s) => s.value > 0);
  for (const s of list) s.share = s.value / whole;
  return { amd, family, whole, list, parts: !amd };
}
function mainStall(scope) {
  const s = stallsOf(scope);
  if (!s) return '';
  const lost = s.list
    .slice(1)
    .filter((x) => x.reason !== 'issued')
    .sort((a, b) => b.value - a.value)[0];
  return lost ? (reasonText[lost.reason] || lost.reason) + ' ' + percent(lost.share, 0) : '';
}

/* ---------------------------------------------------------------------------------------- derived quantities */

function sectorBytes(result) {
  return vendorOf(result) === 'amd' ? keyNumber(result, 'line_bytes') || 64 : 32;
}

/* Bytes that crossed each level: what cores asked L1 for, L1 asked L2 for, L2 asked DRAM for. */
function trafficOf(scope) {
  const amd = vendorOf(scope.result) === 'amd',
    unit = sectorBytes(scope.result);
  if (amd) {
    const l1 = get0(scope, 'vector_cache', 'reads') + get0(scope, 'vector_cache', 'writes');
    const scalar = get0(scope, 'scalar_cache', 'reads'),
      code = get0(scope, 'instruction_cache', 'reads');
    const l2r = get0(scope, 'l2', 'reads'),
      l2w = get0(scope, 'l2', 'writes') + get0(scope, 'l2', 'atomics');
    return {
      unit,
      l1: l1 * unit,
      l1r: get0(scope, 'vector_cache', 'reads') * unit,
      l1w: get0(scope, 'vector_cache', 'writes') * unit,
      scalar: scalar * unit,
      code: code * unit,
      l2: (l2r + l2w) * unit,
      l2r: l2r * unit,
      l2w: l2w * unit,
      dramr: get0(scope, 'channel', 'read_bytes'),
      dramw: get0(scope, 'channel', 'write_bytes'),
      dram: get0(scope, 'channel', 'read_bytes') + get0(scope, 'channel', 'write_bytes'),
    };
  }
  const l2r = get0(scope, 'l2', 'reads') * unit,
    l2w = get0(scope, 'l2', 'writes') * unit;
  const dramr = get0(scope, 'dram', 'reads') * unit,
    dramw = get0(scope, 'dram', 'writes') * unit;
  const formula = get0(scope, 'core', 'expected_dram_sectors') * unit;
  return {
    unit,
    l1: get0(scope, 'core', 'l1_accesses') * unit,
    l1r: get0(scope, 'core', 'l1_reads') * unit,
    l1w: get0(scope, 'core', 'l1_writes') * unit,
    l2: l2r + l2w || get0(scope, 'core', 'expected_l2_sectors') * unit,
    l2r,
    l2w,
    dramr,
    dramw,
    dram: dramr + dramw || formula,
  };
}
function hitsOf(scope) {
  if (vendorOf(scope.result) === 'amd')
    return {
      l1: get(scope, 'vector_cache', 'read_hit_rate'),
      l2: get(scope, 'l2', 'read_hit_rate'),
      scalar: get(scope, 'scalar_cache', 'read_hit_rate'),
      code: get(scope, 'instruction_cache', 'read_hit_rate'),
      tlb: get(scope, 'tlb', 'hit_rate'),
    };
  return {
    l1: share(get(scope, 'core', 'l1_hits'), get(scope, 'core', 'l1_accesses')),
    l2: get(scope, 'l2', 'hit_rate'),
  };
}
function dramPeak(scope) {
  /* GB/s of the GPUs of the scope */
  const roof = get(scope, 'roofline', 'roof_dram');
  if (roof > 0) return roof;
  const busy = get(scope, 'dram', 'busy_cycles'),
    moved = trafficOf(scope).dram,
    channels = blockCount(scope, 'dram');
  return busy > 0 && moved > 0 ? ((moved / busy) * channels * keyNumber(scope.result, 'clock.dram_mhz')) / 1e3 : NaN;
}
/* Floating-point operations and roofs in GFLOP/s and GB/s: {flops, types: [[name, flops, peak]], l1, l2, dram}. */
function arithmeticOf(scope) {
  const r = scope.result,
    core = keyNumber(r, 'clock.core_mhz') / 1e3;
  if (vendorOf(r) !== 'amd') {
    const gpus = scope.kernel < 0 && scope.gpu < 0 ? r.gpus : 1;
    const slices = keyNumber(r, 'memory.channels') * keyNumber(r, 'memory.slices_per_channel') * gpus;
    return {
      flops: get(scope, 'roofline', 'flops'),
      types: ['single', 'half', 'double'].map((n) => [n, get(scope, 'core', 'flops_' + n), get(scope, 'roofline', 'roof_' + n)]),
      l1: blockCount(scope, 'core') * keyNumber(r, 'core.l1.banks') * 32 * core,
      l2: (slices * 32 * keyNumber(r, 'clock.l2_mhz')) / 1e3,
      dram: get(scope, 'roofline', 'roof_dram'),
    };
  }
  const single = blockCount(scope, 'cu') * keyNumber(r, 'cu.simds') * keyNumber(r, 'cu.lane_width') * 2 * core,
    packed = (key(r, 'target') || '').startsWith('gfx8') ? 1 : 2;
  const peaks = { single, half: single * packed, double: single / keyNumber(r, 'cu.double_slow_rate') };
  const types = Object.entries(peaks).map(([n, peak]) => [n, get0(scope, 'cu', 'flops_' + n), peak]);
  const perCycle = (family) =>
    blockCount(scope, family) * (keyNumber(r, family + '.accesses_per_cycle') || 1) * sectorBytes(r) * core;
  return {
    flops: sum(types.map((t) => t[1])),
    types,
    l1: perCycle('vector_cache'),
    l2: perCycle('l2'),
    dram: dramPeak(scope),
  };
}
function occupancyOf(scope) {
  const r = scope.result;
  if (vendorOf(r) === 'amd') {
    const slots = keyNumber(r, 'cu.simds') * keyNumber(r, 'cu.waves_per_simd');
    const waves = share(get(scope, 'cu', 'wave_cycles'), get(scope, 'cu', 'resident_cycles'));
    const limits = [
      ['work-group slots', ['blocked_groups', 'blocked_barriers']],
      ['wave slots', ['blocked_waves']],
      ['vector registers', ['blocked_vgprs']],
      ['scalar registers', ['blocked_sgprs']],
      ['LDS', ['blocked_lds']],
    ]
      .map(([name, list]) => [name, sum(list.map((n) => get0(scope, 'command', n)))])
      .filter((l) => l[1] > 0);
    return {
      unit: 'waves',
      warps: waves,
      slots,
      share: share(waves, slots),
      limits,
      limitUnit: 'tries of the dispatcher that found no room',
      nothing: 'The grid is too small to fill the compute units.',
    };
  }
  const slots = keyNumber(r, 'core.warp_slots'),
    warps = share(get(scope, 'core', 'resident_warps'), get(scope, 'core', 'resident_cycles'));
  const limits = [
    ['size of the grid', 'grid_blocks'],
    ['warp slots', 'warp_blocks'],
    ['thread-block slots', 'slot_blocks'],
    ['registers', 'register_blocks'],
    ['shared memory', 'shared_blocks'],
  ]
    .map(([name, m]) => [name, get0(scope, 'occupancy', m)])
    .filter((l) => l[1] > 0);
  return {
    unit: 'warps',
    warps,
    slots,
    share: share(warps, slots),
    limits,
    limitUnit: 'thread blocks',
    theoretical: get(scope, 'occupancy', 'theoretical'),
  };
}
function coresUse(scope) {
  const family = vendorOf(scope.result) === 'amd' ? 'cu' : 'core';
  const cycles = (nsOf(scope) * keyNumber(scope.result, 'clock.core_mhz')) / 1e3;
  return atMost1(share(get(scope, family, 'resident_cycles'), blockCount(scope, family) * cycles));
}
function ipcOf(scope) {
  const amd = vendorOf(scope.result) === 'amd';
  const cycles = (nsOf(scope) * keyNumber(scope.result, 'clock.core_mhz')) / 1e3;
  return share(amd ? get(scope, 'cu', 'instructions') : get(scope, 'core', 'warp_instructions'), cycles);
}

/* Shares of what the machine can do at most: rows of "speed of light". */
function speedOf(scope) {
  const r = scope.result,
    amd = vendorOf(r) === 'amd',
    rows = [];
  const add = (name, value, help) => {
    if (isNumber(value)) rows.push({ name, value: atMost1(value), help });
  };
  const ns = nsOf(scope),
    cycles = (ns * keyNumber(r, 'clock.core_mhz')) / 1e3;
  const dramCycles = (ns * keyNumber(r, 'clock.dram_mhz')) / 1e3;
  if (amd) {
    const turn = Math.max(1, keyNumber(r, 'cu.turn_cycles') || 1);
    add('compute units with a wave', coresUse(scope), 'of the time of kernels');
    add(
      'cycles with an instruction issued',
      share(get(scope, 'cu', 'active_cycles'), blockCount(scope, 'cu') * cycles),
      'of all compute units',
    );
    add(
      'vector ALUs',
      share(
        get(scope, 'cu', 'instructions_valu') * turn,
        blockCount(scope, 'cu') * keyNumber(r, 'cu.simds') * cycles,
      ),
      'busy',
    );
    for (const [name, done, peak] of arithmeticOf(scope).types)
      if (done > 0) add(name + ' precision', share(done / ns, peak), 'of the roof');
    add(
      'L2',
      share(get0(scope, 'l2', 'reads') + get0(scope, 'l2', 'writes'), blockCount(scope, 'l2') * cycles),
      'requests of at most one per slice and cycle',
    );
  } else {
    add('cores with a warp', coresUse(scope), 'of the time of kernels');
    add(
      'issue slots',
      share(get(scope, 'core', 'issued'), blockCount(scope, 'core') * keyNumber(r, 'core.sub_cores') * cycles),
      'of all cores',
    );
    for (const [name, metric] of [
      ['single precision', 'share_single'],
      ['half precision', 'share_half'],
      ['double precision', 'share_double'],
      ['tensor units', 'share_tensor'],
    ])
      if (get0(scope, 'roofline', metric) > 0) add(name, get(scope, 'roofline', metric), 'of the roof');
    add(
      'L1',
      share(get(scope, 'core', 'l1_accesses'), blockCount(scope, 'core') * keyNumber(r, 'core.l1.banks') * cycles),
      'sectors of at most one per bank and cycle',
    );
    const l2 =
      ((ns * keyNumber(r, 'clock.l2_mhz')) / 1e3) *
      keyNumber(r, 'memory.channels') *
      keyNumber(r, 'memory.slices_per_channel') *
      scope.result.gpus;
    add(
      'L2',
      share(get(scope, 'l2', 'requests'), scope.kernel >= 0 || scope.gpu >= 0 ? l2 / scope.result.gpus : l2),
      'requests of at most one per slice and cycle',
    );
  }
  const inKernels = amd
    ? share(
        trafficOf(scope).dram -
          (get0(scope, 'dma', 'lines_read') + get0(scope, 'dma', 'lines_written')) * sectorBytes(r),
        trafficOf(scope).dram,
      )
    : 1;
  add(
    'DRAM',
    get(scope, 'dram', 'busy_cycles') > 0
      ? share(get(scope, 'dram', 'busy_cycles') * Math.max(0, inKernels), blockCount(scope, 'dram') * dramCycles)
      : get(scope, 'roofline', 'share_dram'),
    amd ? 'data bus busy, without copies' : 'data bus busy',
  );
  if (scope.kernel < 0) {
    const links = r.blocks[Object.keys(r.blocks).find((t) => t.startsWith('fabric.link/'))];
    if (links && links.busy_cycles && links.cycles)
      add(
        'busiest fabric link',
        Math.max(...links.busy_cycles.map((b, i) => share(b, links.cycles[i]) || 0)),
        'over the whole run',
      );
  }
  return rows;
}
