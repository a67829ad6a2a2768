/* main.js: builds the page, and keeps the chosen result and scope in the address (#details/RESULT/KERNEL). */
(function () {
  const main = document.getElementById('main'),
    nav = document.getElementById('nav');
  const state = { result: 0, kernel: -1, gpu: -1 };
  const holder = el('div'),
    live = el('p', { class: 'hidden', role: 'status', 'aria-live': 'polite' });
  let result = RESULTS[0],
    resultBox = null,
    scopeBox = null;

  const pick = (kernel) => {
    choose(state.result, kernel, -1);
    document.getElementById('details').scrollIntoView();
    document.getElementById('details-h').focus({ preventScroll: true });
  };

  function scopeName() {
    if (state.kernel >= 0)
      return 'kernel ' + result.kernels.id[state.kernel] + ', ' + shortName(nameOf(result, state.kernel));
    return state.gpu >= 0 ? 'GPU ' + state.gpu : 'whole run';
  }
  function choose(r, kernel, gpu) {
    Object.assign(state, { result: r, kernel, gpu });
    result = RESULTS[r];
    drawDetails();
    live.textContent = 'Details: ' + scopeName();
    try {
      history.replaceState(null, '', '#details/' + r + '/' + (gpu >= 0 ? 'gpu' + gpu : kernel >= 0 ? kernel : 'run'));
    } catch (e) {
      /* pages inside of others have no history */
    }
  }
  function scopeOptions() {
    const k = result.kernels,
      options = [el('option', { value: 'run' }, 'whole run')];
    if (result.by_gpu)
      for (let g = 0; g < result.gpus; g++) options.push(el('option', { value: 'gpu' + g }, 'GPU ' + g));
    const order = k.id.map((_, i) => i).filter((i) => k.side[i] !== 2);
    const listed =
      order.length <= 300
        ? order
        : order
            .slice()
            .sort((a, b) => k.ns[b] - k.ns[a])
            .slice(0, 300);
    if (state.kernel >= 0 && !listed.includes(state.kernel)) listed.push(state.kernel);
    for (const i of listed)
      options.push(
        el('option', { value: String(i) }, k.id[i] + ' ' + shortName(nameOf(result, i)) + ' (' + time(k.ns[i]) + ')'),
      );
    return options;
  }
  function drawDetails() {
    scopeBox.replaceChildren(...scopeOptions());
    scopeBox.value = state.gpu >= 0 ? 'gpu' + state.gpu : state.kernel >= 0 ? String(state.kernel) : 'run';
    if (resultBox) resultBox.value = String(state.result);
    document.getElementById('details-h').textContent = 'Details: ' + scopeName();
    holder.replaceChildren(...details({ result, kernel: state.kernel, gpu: state.gpu }, pick).flat().filter(Boolean));
  }
  function takeScope() {
    const v = scopeBox.value;
    choose(
      state.result,
      v === 'run' || v.startsWith('gpu') ? -1 : Number(v),
      v.startsWith('gpu') ? Number(v.slice(3)) : -1,
    );
  }
  function tools() {
    const out = [];
    if (RESULTS.length > 1) {
      const id = newId('result');
      resultBox = el(
        'select',
        { id, on: { change: () => choose(Number(resultBox.value), -1, -1) } },
        RESULTS.map((r, i) => el('option', { value: String(i) }, r.label)),
      );
      out.push(el('label', { for: id }, 'Result'), resultBox);
    }
    const id = newId('scope');
    scopeBox = el('select', { id, on: { change: takeScope } });
    out.push(el('label', { for: id }, 'Scope'), scopeBox);
    return el('div', { class: 'tools' }, out);
  }
  const each = (make) =>
    RESULTS.length === 1 ? make(RESULTS[0], 0) : RESULTS.map((r, i) => part(r.label, make(r, i)));

  function build() {
    const sections = [];
    if (DATA.sweep) sections.push(section('sweep', 'Sweep', sweepSection(DATA.sweep)));
    if (RESULTS.length) {
      sections.push(
        section(
          'overview',
          'Overview',
          each((r, i) => overviewOf(r, i)),
        ),
      );
      if (RESULTS.length > 1)
        sections.push(
          section(
            'differences',
            'Differences',
            comparison(RESULTS, (k) => {
              choose(0, k, -1);
              pick(k);
            }),
          ),
        );
      sections.push(
        section(
          'kernels',
          'Kernels',
          each((r, i) =>
            kernelTable(r, (k) => {
              state.result = i;
              result = r;
              pick(k);
            }),
          ),
        ),
      );
      const box = section('details', 'Details', tools(), live, holder);
      box.firstChild.setAttribute('tabindex', '-1');
      sections.push(
        box,
        section(
          'source',
          'Source',
          each((r) => sourceSection(r)),
        ),
        section(
          'configuration',
          'Configuration',
          each((r) => configuration(r)),
        ),
        section('host', 'Host cost', hostCost(RESULTS)),
      );
    }
    const spans = document.getElementById('timeline-data');
    if (spans)
      sections.splice(
        RESULTS.length ? 1 : 0,
        0,
        section('timeline', 'Timeline', timelineSection(JSON.parse(spans.textContent))),
      );
    main.append(...sections);
    nav.append(
      el(
        'ul',
        null,
        sections.map((s) => el('li', null, el('a', { href: '#' + s.id }, s.querySelector('h2').textContent))),
      ),
    );
    if (RESULTS.length) drawDetails();
  }
  /* Headings of several results are one level deeper than those of one. */
  function overviewOf(r, i) {
    const list = overview(r, (k) => {
      state.result = i;
      result = r;
      pick(k);
    })
      .flat()
      .filter(Boolean);
    if (RESULTS.length > 1)
      for (const node of list)
        for (const h of node.querySelectorAll ? node.querySelectorAll('h3') : [])
          h.replaceWith(el('h4', null, h.textContent));
    return list;
  }
  function fromAddress() {
    const m = /^#details\/(\d+)\/(run|gpu\d+|\d+)$/.exec(location.hash);
    if (!m || !RESULTS[Number(m[1])]) return;
    const r = Number(m[1]),
      kernel = /^\d+$/.test(m[2]) ? Number(m[2]) : -1;
    if (kernel < RESULTS[r].kernels.id.length) {
      choose(r, kernel, m[2].startsWith('gpu') ? Number(m[2].slice(3)) : -1);
      document.getElementById('details').scrollIntoView();
    }
  }
  build();
  fromAddress();
  window.addEventListener('beforeprint', () =>
    document.querySelectorAll('details.print').forEach((d) => {
      d.open = true;
    }),
  );
})();
