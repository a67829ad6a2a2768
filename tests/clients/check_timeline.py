"""Drives the timeline of a page in a real browser: check_timeline.py FILE.html [--million FILE.html]. Zoom and pan by wheel, mouse,
touch and keys; rows open and close; a click shows details with milestones; search finds and goes on; light and dark differ. With
--million the page has a million spans: frames are timed, and the median is printed."""

import sys

from browser import Browser

VIEW = "(({from, scale, width, gutter}) => [from, from + (width - gutter) / scale])(lockstepTimeline)"
# A point in the middle of a span that is wide enough: [x, y, its number].
POINT = """
(() => {
  const v = lockstepTimeline, r = v.box.getBoundingClientRect();
  for (const e of v.layout.list) {
    if (e.node.type !== 'lane' || e.y < v.top || e.y + e.height > v.top + v.height - 40) continue;
    const d = e.node.row.depths[0];
    for (let i = d.from; i < d.from + d.count; i++) {
      const x0 = v.gutter + (v.t.begin[i] - v.from) * v.scale, x1 = v.gutter + (v.t.end[i] - v.from) * v.scale;
      if (x0 >= v.gutter && x1 <= v.width && x1 - x0 > 8) return [r.left + (x0 + x1) / 2, r.top + TL_RULER + e.y - v.top + 3, i];
    }
  }
  return null;
})()
"""


class Viewer:
    """The timeline of an open page, with input as a user gives it."""

    def __init__(self, browser, path):
        self.browser, self.path = browser, path

    def run(self, script):
        return self.browser.run(script)

    def settle(self):
        self.run("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(0))))")

    def view(self):
        self.settle()
        return self.run(VIEW)

    def middle(self):
        return self.run("(() => { const r = lockstepTimeline.box.getBoundingClientRect(); return [r.left + 700, r.top + 100]; })()")

    def mouse(self, kind, x, y, **more):
        self.browser.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.settle()

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            more = {"text": key if len(key) == 1 else ""} if kind == "keyDown" else {}
            self.browser.call("Input.dispatchKeyEvent", {"type": kind, "key": key, **more})
        self.settle()


def width(view):
    return view[1] - view[0]


def check_zoom_and_pan(v):
    whole = v.view()
    x, y = v.middle()
    v.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300, modifiers=2)
    near = v.view()
    assert width(near) < 0.8 * width(whole), f"Ctrl and wheel do not zoom: {whole} {near}"
    v.mouse("mousePressed", x, y, button="left", clickCount=1)
    v.mouse("mouseMoved", x - 120, y, button="left", buttons=1)
    v.mouse("mouseReleased", x - 120, y, button="left", clickCount=1)
    dragged = v.view()
    assert dragged[0] > near[0] and abs(width(dragged) - width(near)) < 1e-6 * width(near), f"a drag does not pan: {near} {dragged}"
    v.run("lockstepTimeline.box.focus()")
    v.key("w")
    assert width(v.view()) < width(dragged), "W does not zoom"
    before = v.view()
    v.key("ArrowRight")
    assert v.view()[0] > before[0], "Right does not pan"
    v.key("0")
    assert v.view() == whole, "0 does not show the whole run"
    points = [{"x": x - 50, "y": y, "id": 1}, {"x": x + 50, "y": y, "id": 2}]
    v.browser.call("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points})
    for step in range(1, 6):
        v.browser.call("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [
            {"x": x - 50 - 20 * step, "y": y, "id": 1}, {"x": x + 50 + 20 * step, "y": y, "id": 2}]})
    v.browser.call("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert width(v.view()) < 0.7 * width(whole), "two fingers do not zoom"
    v.run("[...document.querySelectorAll('#timeline button')].find((b) => b.textContent === 'Whole run').click()")
    assert v.view() == whole, "the button does not show the whole run"


def check_rows(v):
    closed = v.run("lockstepTimeline.layout.list.length")
    v.run("lockstepTimeline.box.focus()")
    for _ in range(400):
        v.key("ArrowDown")
        if v.run("(({cursor}) => cursor.type === 'block' && !cursor.isOpen && cursor.rows.length > 0)(lockstepTimeline)"):
            break
    name = v.run("lockstepTimeline.cursor.name")
    assert name in v.run("lockstepTimeline.status.textContent"), "a row is chosen but not said"
    v.key("Enter")
    assert v.run("lockstepTimeline.layout.list.length") > closed, f"Enter does not open {name}"
    assert "open" in v.run("lockstepTimeline.status.textContent")


def check_details(v):
    point = v.run(POINT)
    assert point, "no span to click on"
    x, y, span = point
    v.mouse("mouseMoved", x, y)
    v.settle()
    assert not v.run("lockstepTimeline.tip.hidden"), "no tip over a span"
    v.click(x, y)
    name = v.run("tlName(lockstepTimeline.t, %d)" % span)
    assert v.run("lockstepTimeline.selected") == span and v.run("lockstepTimeline.panel.querySelector('h3').textContent") == name
    v.run("lockstepTimeline.box.focus()")
    v.key("n")
    v.key("p")
    v.key("f")
    begin, end = v.run("[lockstepTimeline.t.begin[lockstepTimeline.selected], lockstepTimeline.t.end[lockstepTimeline.selected]]")
    from_, to = v.view()
    assert from_ <= begin and end <= to, "F does not show the span"
    v.key("0")
    # A request has its milestones in order, and its parts in other blocks lead there.
    request = v.run("(() => { const t = lockstepTimeline.t; return t.label.findIndex((l, i) => t.labels[l].kind === 'request' &&"
                    " t.labels[l].part === 'whole' && tlParts(t, i).length); })()")
    assert request >= 0, "no request with parts"
    v.run("tlSelect(lockstepTimeline, %d)" % request)
    assert v.run("lockstepTimeline.panel.querySelectorAll('table tbody tr').length") >= 2, "no milestones of a request"
    v.run("lockstepTimeline.panel.querySelector('ul .link').click()")
    assert v.run("lockstepTimeline.t.parent[lockstepTimeline.selected]") == request, "the way to a part is lost"
    v.run("lockstepTimeline.panel.querySelector('dd .link').click()")
    assert v.run("lockstepTimeline.selected") == request, "the way back is lost"


def check_search(v):
    text = "kernel"
    kernel = v.run("tlName(lockstepTimeline.t, lockstepTimeline.t.label.findIndex((l) => lockstepTimeline.t.labels[l].kind === '%s'))" % text)
    v.run("lockstepTimeline.box.focus()")
    v.key("/")
    assert v.run("document.activeElement === lockstepTimeline.searchBox"), "/ does not lead to the search"
    v.run("lockstepTimeline.searchBox.value = %r; lockstepTimeline.searchBox.dispatchEvent(new Event('input'))" % kernel)
    v.key("Enter")
    found = v.run("lockstepTimeline.search.total")
    count = v.run("lockstepTimeline.t.label.reduce((n, l, i) => n + (tlName(lockstepTimeline.t, i) === %r), 0)" % kernel)
    assert found >= count > 0 and v.run("tlName(lockstepTimeline.t, lockstepTimeline.selected)") == kernel, (found, count)
    v.run("lockstepTimeline.searchBox.value = 'nothing has this'; lockstepTimeline.searchBox.dispatchEvent(new Event('input'))")
    v.key("Enter")
    assert v.run("lockstepTimeline.search.total") == 0 and "nothing" in v.run("lockstepTimeline.searchBox.parentElement.textContent")
    v.key("Escape")
    assert v.run("lockstepTimeline.search") is None, "Escape does not end the search"


def check_colours(v):
    """The canvas is not empty, and has other colours by dark."""
    pixel = "[...lockstepTimeline.context.getImageData(4, lockstepTimeline.height - 3, 1, 1).data].join()"
    v.run("tlDraw(lockstepTimeline); 0")
    kinds = v.run("new Set(new Uint32Array(lockstepTimeline.context.getImageData(0, 0, lockstepTimeline.canvas.width,"
                  " lockstepTimeline.canvas.height).data.buffer)).size")
    assert kinds > 8, f"the canvas has {kinds} colours"
    light = v.run(pixel)
    v.browser.size(1200, 900, True)
    v.settle()
    assert v.run(pixel) != light, "dark is as light"
    v.browser.size(390, 800)
    v.settle()
    assert v.run("lockstepTimeline.canvas.clientWidth <= 390"), "the canvas is wider than a phone"
    v.browser.size(1200, 900)
    v.settle()


def check(browser, path):
    browser.size(1200, 900)
    browser.call("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    browser.open(path)
    v = Viewer(browser, path)
    v.run("document.getElementById('timeline').scrollIntoView()")
    check_zoom_and_pan(v)
    check_rows(v)
    check_details(v)
    check_search(v)
    check_colours(v)
    assert not browser.errors, f"{path}: {browser.errors}"
    print("checked the timeline of", path)


FRAMES = """
(async () => {
  const v = lockstepTimeline, out = [];
  for (let i = 0; i < 30; i++) {
    tlZoom(v, 1.02);
    await new Promise((r) => requestAnimationFrame(r));
    const start = performance.now();
    tlDraw(v);
    v.context.getImageData(0, 0, 1, 1); // waits until all is drawn
    out.push(performance.now() - start);
  }
  out.sort((a, b) => a - b);
  return out[15];
})()
"""


def measure(browser, path):
    """Draws a million spans: all blocks closed, and all rows open. Host times are printed, not asserted."""
    browser.size(1200, 900)
    browser.open(path)
    count = browser.run("lockstepTimeline.t.n")
    assert 1_000_000 <= count <= 1_100_000, f"{path} has {count} spans"  # work-groups and warps stay beyond the million
    print(f"{count} spans: a frame of closed blocks takes {browser.run(FRAMES):.1f} ms")
    browser.run("tlShow(lockstepTimeline, 0, 1e15); for (const p of lockstepTimeline.roots) for (const b of p.children) { b.isOpen = true;"
                " for (const k of b.children) k.isOpen = true; } tlRelayout(lockstepTimeline); lockstepTimeline.box.scrollTop = 600; 0")
    print(f"a frame of open rows takes {browser.run(FRAMES):.1f} ms, {browser.run('lockstepTimeline.drawn')} rectangles")
    # Whatever there is to draw, a screen has so many pixels: the work does not grow with the spans.
    assert browser.run("lockstepTimeline.drawn") < 60000
    assert not browser.errors, browser.errors


def main(files):
    with Browser() as browser:
        million = files.index("--million") if "--million" in files else len(files)
        for file in files[:million]:
            check(browser, file)
        for file in files[million + 1:]:
            measure(browser, file)


main(sys.argv[1:])
