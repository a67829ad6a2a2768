"""Controls a run from its live page in a real browser: check_monitor.py LOCKSTEP."""

import re
import subprocess
import sys
import time

from browser import Browser

RULES = """(() => {
  const out = [];
  for (const e of document.querySelectorAll('button, input, select, canvas, [role=progressbar]')) {
    const text = e.textContent.trim() || e.getAttribute('aria-label') || (e.labels && e.labels.length && e.labels[0].textContent.trim());
    if (!text) out.push('no name: ' + e.id);
  }
  for (const e of document.querySelectorAll('section'))
    if (!document.getElementById(e.getAttribute('aria-labelledby'))) out.push('no heading of a section');
  const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (over > 1) out.push('wider than the screen by ' + over);
  return out;
})()"""


def state(browser):
    return browser.run("document.getElementById('state').textContent")


def simulated(browser):
    return browser.run("document.querySelector('#numbers dd').textContent")


def wait(browser, what, done):
    until = time.monotonic() + 60
    while not done():
        assert time.monotonic() < until, f"{what}: the page says '{state(browser)}', {simulated(browser)}"
        time.sleep(0.1)


def click(browser, name):
    browser.run(f"document.getElementById('{name}').click()")


def check(browser, url, run):
    browser.size(1200, 900)
    browser.open(url)
    wait(browser, "start", lambda: state(browser) == "running")
    click(browser, "pause")
    wait(browser, "pause", lambda: state(browser) == "paused")
    assert browser.run("document.getElementById('pause').disabled")
    before = browser.run("last.time_fs")
    browser.run("document.getElementById('step-time').value = '2us'")
    click(browser, "step")
    wait(browser, "step", lambda: browser.run("last.time_fs") == before + 2 * 10**9 and state(browser) == "paused")
    browser.run("document.getElementById('step-time').value = 'soon'")
    click(browser, "step")
    wait(browser, "wrong step", lambda: "a step needs a time" in browser.run("document.getElementById('said').textContent"))
    wait(browser, "buffers", lambda: browser.run("document.querySelectorAll('#links tr').length") > 0)
    assert browser.run("document.querySelectorAll('#host .row').length") >= 2, "no threads of the host"
    assert browser.run("document.getElementById('metric').options.length") > 5, "no metrics"
    browser.run("const m = document.getElementById('metric'); m.selectedIndex = 1; m.dispatchEvent(new Event('change'))")
    assert browser.run("document.getElementById('chart').width") > 100, "no chart"
    click(browser, "load-waits")
    wait(browser, "waits", lambda: "gpu0" in browser.run("document.getElementById('waits').textContent"))
    for width, dark in ((1200, False), (1200, True), (390, False)):
        browser.size(width, 900, dark)
        problems = browser.run(RULES)
        assert not problems, f"{width}, dark {dark}: {problems}"
    click(browser, "continue")
    wait(browser, "continue", lambda: state(browser) != "paused")
    click(browser, "stop")
    assert run.wait(60) == 130, "a stopped run ends as an interrupted one"
    elsewhere = [u for u in browser.loads if not u.startswith(url.split("#")[0])]
    assert not elsewhere, f"the page loads {elsewhere}"
    # A refused step, and asking for a run that has ended, are errors of the network, not of the script.
    errors = [e for e in browser.errors if not e.startswith("Failed to load resource")]
    assert not errors, errors


def check_sweep(browser, url, run):
    browser.size(1200, 900)
    browser.open(url)
    wait_sweep(browser, "best", lambda: browser.run("document.querySelectorAll('#best tr td').length") >= 4)
    assert browser.run("document.querySelectorAll('#workers tr').length") == 2, "two workers"
    assert "vector_cache.ways=" in browser.run("document.querySelector('#best tr td:nth-child(2)').textContent")
    assert browser.run("document.getElementById('failed').textContent") == "none"
    for width, dark in ((1200, False), (1200, True), (390, False)):
        browser.size(width, 900, dark)
        problems = browser.run(RULES)
        assert not problems, f"sweep, {width}, dark {dark}: {problems}"
    click(browser, "stop")
    wait_sweep(browser, "stop", lambda: state(browser).startswith("stopped"))
    assert run.wait(60) == 130, "a stopped sweep ends as an interrupted one"
    errors = [e for e in browser.errors if not e.startswith("Failed to load resource")]
    assert not errors, errors


def wait_sweep(browser, what, done):
    until = time.monotonic() + 60
    while not done():
        assert time.monotonic() < until, f"sweep, {what}: the page says '{state(browser)}'"
        time.sleep(0.1)


def watch(command, check_page):
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        url = None
        while url is None:
            line = run.stderr.readline()
            assert line, "no page"
            url = re.search(r"http://\S+", line)
        with Browser() as browser:
            check_page(browser, url.group(), run)
    finally:
        if run.poll() is None:
            run.kill()


def main(lockstep):
    monitor = ["--monitor", "0", "--monitor-token", "auto"]
    watch([lockstep, "run", "fir", "-p", "r9nano", "--size", "4194304", "-j", "2", *monitor], check)
    watch([lockstep, "sweep", "fir", "-p", "r9nano", "--size", "65536", "--vary", "vector_cache.ways=1,2,4", "--vary",
           "cu.waves_per_simd=1..10", "-j", "2", "-o", "points.db", "--progress", "never", *monitor], check_sweep)


main(sys.argv[1])
