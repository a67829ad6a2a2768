"""Clicks through reports in a real browser: check_report.py [--axe axe.min.js] FILE.html... Every section and scope is drawn without an error of
the scripts and nothing is loaded; sort, filter and keyboard work; landmarks, headings, names of controls, charts and tables,
and the contrast of text are as docs/report.md promises, in light and dark, on paper and on a phone."""

import sys

from browser import Browser

# Returns a list of problems. The rules are those of WCAG 2.1 A and AA that a program can decide.
ACCESSIBILITY = r"""
(() => {
  const problems = [], visible = (e) => e.getClientRects().length > 0;
  const say = (rule, e) => problems.push(rule + ': ' + (e ? e.outerHTML.slice(0, 100) : ''));
  for (const tag of ['header', 'nav', 'main']) if (document.querySelectorAll(tag).length !== 1) say('one <' + tag + '>');
  if (!document.documentElement.lang) say('language of the page');
  if (!document.title) say('title');
  let last = 0;
  for (const h of document.querySelectorAll('h1,h2,h3,h4,h5,h6')) {
    const level = Number(h.tagName[1]);
    if (level > last + 1) say('heading skips a level', h);
    if (!h.textContent.trim()) say('empty heading', h);
    last = level;
  }
  const ids = new Set();
  for (const e of document.querySelectorAll('[id]')) { if (ids.has(e.id)) say('id twice', e); ids.add(e.id); }
  for (const s of document.querySelectorAll('section')) if (!document.getElementById(s.getAttribute('aria-labelledby'))) say('section without a name', s);
  for (const s of document.querySelectorAll('svg')) {
    const title = document.getElementById(s.getAttribute('aria-labelledby'));
    if (s.getAttribute('role') !== 'img' || !title || !title.textContent) say('chart without a text', s);
  }
  for (const t of document.querySelectorAll('table')) {
    if (!t.caption || !t.caption.textContent) say('table without a caption', t);
    if (!t.querySelector('th[scope=col]')) say('table without column headings', t);
    for (const row of t.tBodies[0].rows) if (!row.querySelector('th[scope=row]')) { say('row without a heading', t); break; }
  }
  for (const c of document.querySelectorAll('input,select')) if (!c.labels.length) say('control without a label', c);
  for (const b of document.querySelectorAll('button,a[href],summary')) if (!b.hidden && !b.textContent.trim()) say('button without a name', b);
  for (const h of document.querySelectorAll('th .sort')) if (h.tagName !== 'BUTTON') say('heading that sorts is no button', h);
  for (const f of document.querySelectorAll('.scroll')) if (f.scrollWidth > f.clientWidth + 1 && f.tabIndex < 0) say('scrolls but takes no focus', f);
  const parse = (text) => { const m = /rgba?\(([^)]*)\)/.exec(text); const p = m ? m[1].split(/[ ,/]+/).map(Number) : [0, 0, 0, 0]; return p.length > 3 ? p : [...p, 1]; };
  const light = ([r, g, b]) => { const f = [r, g, b].map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
  const ground = (e) => { for (let at = e; at; at = at.parentElement) { const c = parse(getComputedStyle(at).backgroundColor); if (c[3] > 0.99) return c; } return [255, 255, 255, 1]; };
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const told = new Set();
  for (let n = walker.nextNode(); n; n = walker.nextNode()) {
    const e = n.parentElement;
    if (!n.textContent.trim() || !visible(e) || e.closest('script,style')) continue;
    const style = getComputedStyle(e), inSvg = e.closest('svg');
    if (e.tagName === 'title') continue;
    let front = parse(inSvg ? style.fill : style.color), back = ground(e);
    if (inSvg && e.classList.contains('on')) { const shape = e.parentElement.querySelector('rect'); const f = shape ? parse(getComputedStyle(shape).fill) : back; const o = shape ? Number(getComputedStyle(shape).fillOpacity) : 1; back = f.map((v, i) => (i < 3 ? v * o + back[i] * (1 - o) : 1)); }
    const c = contrast(front, back);
    if (c < 4.5 && !told.has(style.color + style.fill)) { told.add(style.color + style.fill); say('contrast ' + c.toFixed(2), e); }
  }
  const shapes = new Set();
  for (const e of document.querySelectorAll('svg rect[style],svg circle,svg polygon,svg polyline,.swatch')) {
    const style = getComputedStyle(e), value = e.tagName === 'SPAN' ? style.backgroundColor : e.tagName === 'polyline' ? style.stroke : style.fill;
    if (shapes.has(value) || e.classList.contains('heat') || /track/.test(e.getAttribute('style'))) continue;
    shapes.add(value);
    const behind = ground(e.tagName === 'SPAN' ? e.parentElement : e);
    if (parse(value)[3] > 0 && contrast(parse(value), behind) < 3) say('contrast of a shape ' + contrast(parse(value), behind).toFixed(2), e);
  }
  return problems;
})()
"""

AXE = """
axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations']})
  .then((r) => r.violations.map((v) => v.id + ' (' + v.nodes.length + '): ' + v.nodes[0].html.slice(0, 120)))
"""

SCOPES = """
(() => { const box = [...document.querySelectorAll('#details select')].pop(); return box ? [...box.options].map((o) => o.value) : []; })()
"""


def choose(browser, value):
    browser.run("(() => { const box = [...document.querySelectorAll('#details select')].pop(); box.value = %r;"
                " box.dispatchEvent(new Event('change')); })()" % value)


def check_sections(browser, path):
    sections = browser.run("[...document.querySelectorAll('nav a')].map((a) => a.getAttribute('href').slice(1))")
    assert sections, f"{path}: no sections"
    for section in sections:
        browser.run("document.querySelector('nav a[href=\"#%s\"]').click()" % section)
        assert browser.run("location.hash") == "#" + section, section
        assert browser.run("document.getElementById(%r).children.length > 1" % section), f"{path}: {section} is empty"
    browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    for scope in browser.run(SCOPES)[:12]:
        choose(browser, scope)
        assert browser.run("document.querySelectorAll('#details svg').length") >= 3, f"{path}: scope {scope} has no charts"
        browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    return sections


def check_table(browser, path):
    """The last column of numbers of the largest table sorts both ways, by mouse and keyboard; the filter leaves its hits."""
    browser.run("window.table = [...document.querySelectorAll('.table')].sort((a, b) => b.querySelectorAll('tbody tr').length"
                " - a.querySelectorAll('tbody tr').length)[0]")
    names = "[...table.querySelectorAll('tbody th')].map((c) => c.textContent)"
    before = browser.run(names)
    head = "table.querySelector('thead th:has(+ th) .sort')"
    browser.run(head + ".click()")
    first = browser.run(head + ".closest('th').getAttribute('aria-sort')")
    browser.run(head + ".focus()")
    browser.press("Enter")
    second = browser.run(head + ".closest('th').getAttribute('aria-sort')")
    assert {first, second} == {"ascending", "descending"}, f"{path}: aria-sort is {first}, then {second}"
    assert browser.run("document.querySelectorAll('[aria-sort]').length") >= 1
    assert sorted(browser.run(names)) == sorted(before) or len(before) >= 40, f"{path}: sorting lost rows"
    if browser.run("table.querySelector('input') !== null"):
        browser.run("(() => { const i = table.querySelector('input'); i.value = 'nothing has this'; i.dispatchEvent(new Event('input')); })()")
        assert browser.run("table.querySelectorAll('tbody tr').length") == 0, f"{path}: the filter keeps rows"
        assert browser.run("table.querySelector('[role=status]').textContent").startswith("0 of")
        browser.run("(() => { const i = table.querySelector('input'); i.value = ''; i.dispatchEvent(new Event('input')); })()")
        assert len(browser.run(names)) == len(before), f"{path}: the filter lost rows"


def check_source(browser, path):
    """The section Source draws every kernel; its button leads to the costliest instruction, which has the focus."""
    if browser.run("document.querySelector('#source select') === null"):
        return
    for kernel in browser.run("[...document.querySelector('#source select').options].map((o) => o.value)")[:6]:
        browser.run(f"(() => {{ const s = document.querySelector('#source select'); s.value = '{kernel}'; s.dispatchEvent(new Event('change')); }})()")
        rows = browser.run("document.querySelectorAll('#source tbody tr').length")
        assert rows > 0, f"{path}: kernel {kernel} has no instructions"
        button = "[...document.querySelectorAll('#source .tools button')].pop()"
        assert browser.run(button + ".textContent") == "Jump to hottest"
        browser.run(button + ".focus()")
        browser.press("Enter")
        focused = browser.run("document.activeElement.classList.contains('marked') ? document.activeElement.cells[0].textContent : ''")
        assert focused.startswith("0x"), f"{path}: the button leads to '{focused}'"
        stacked = browser.run("document.querySelectorAll('#source .stalls span').length")
        assert stacked > 0, f"{path}: kernel {kernel} has no stalls"
        top = browser.run("(() => { const t = document.activeElement.closest('table'), at = [...t.querySelectorAll('thead th')].findIndex((h) => h.textContent.startsWith('Cost'));"
                          " const costs = [...t.tBodies[0].rows].map((r) => parseFloat(r.cells[at].textContent)); return parseFloat(document.activeElement.cells[at].textContent) === Math.max(...costs); })()")
        assert top, f"{path}: the instruction of the button is not the costliest"


def check_keyboard(browser, path):
    """Tab goes through links and controls, each with a visible focus; the first leads past the navigation."""
    seen = []
    for _ in range(8):
        browser.press("Tab")
        seen.append(browser.run("document.activeElement.tagName + ' ' + document.activeElement.textContent.slice(0, 30)"))
        assert browser.run("getComputedStyle(document.activeElement).outlineStyle") != "none", f"{path}: no focus on {seen[-1]}"
    assert any(s.startswith("A ") for s in seen), f"{path}: Tab finds {seen}"
    assert len(set(seen)) >= 3, f"{path}: Tab stays on {seen[0]}"


def check(browser, path, axe):
    browser.size(1200, 900)
    browser.open(path)
    check_keyboard(browser, path)
    check_sections(browser, path)
    check_table(browser, path)
    check_source(browser, path)
    for width, dark, media in ((1200, False, ""), (1200, True, ""), (390, False, ""), (800, False, "print")):
        browser.size(width, 900, dark, media)
        problems = browser.run(ACCESSIBILITY)
        if axe and not media:
            browser.run(axe + "; 0")
            problems += browser.run(AXE)
        assert not problems, f"{path} ({width}, dark {dark}, {media}): {problems[:6]}"
        over = browser.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert media or over <= 1, f"{path}: the page is {over} pixels wider than a screen of {width}"
    assert not browser.errors, f"{path}: {browser.errors}"
    elsewhere = [url for url in browser.loads if not url.startswith(("file:", "data:"))]
    assert not elsewhere, f"{path} loads {elsewhere}"


def main(files):
    axe = ""
    if files[0] == "--axe":
        with open(files[1], encoding="utf-8") as file:
            axe = file.read()
        files = files[2:]
    with Browser() as browser:
        for file in files:
            check(browser, file, axe)
            print("checked", file, "with axe-core" if axe else "")


main(sys.argv[1:])
