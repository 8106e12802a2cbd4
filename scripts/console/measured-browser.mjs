/**
 * Chromium that measures pages of the console for the benchmark (`npm run bench -- --case console`). CPU time is that of
 * the page's main thread, so other work on the machine does not change it much.
 */
import { ensureChromium } from '../chromium.mjs';

const VIEWPORT = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** Milliseconds until a page must be ready. */
const READY_WITHIN_MS = 120_000;
const MS_PER_SECOND = 1_000;
/** Milliseconds that a frame may take at 60 frames a second, with room for the jitter of its clock. */
const FRAME_MS = 17.5;

/** Browser whose pages are measured one after the other. */
export class MeasuredBrowser {
  #browser;

  constructor(browser) {
    this.#browser = browser;
  }

  /** Starts the browser. @throws Error if there is none */
  static async start() {
    const { path, reason } = ensureChromium();
    if (!path) throw new Error(reason);
    const { chromium } = await import('playwright-core');
    const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--in-process-gpu'];
    return new MeasuredBrowser(await chromium.launch({ executablePath: path, args }));
  }

  stop() {
    return this.#browser.close();
  }

  /**
   * Opens a page with an empty cache, and measures it until it is ready.
   * @param {string} url
   * @param {string} isReady expression that is true in the page when the last part is drawn
   * @param {{ phone?: boolean }} [options]
   * @returns {Promise<{ wallMs: number, cpuMs: number, scriptMs: number, longestMs: number, elements: number }>}
   * `wallMs` counts from the navigation to the frame after the last part was drawn
   */
  async measureOpening(url, isReady, { phone = false } = {}) {
    return this.#withPage({ phone }, async ({ page, readCpu }) => {
      await page.addInitScript(recordLongTasks);
      const before = await readCpu();
      await page.goto(url, { waitUntil: 'commit' });
      const wallMs = await readyIn(page, isReady);
      const after = await readCpu();
      const { longestMs, elements } = await page.evaluate(countPage);
      return {
        wallMs,
        cpuMs: after.taskMs - before.taskMs,
        scriptMs: after.scriptMs - before.scriptMs,
        longestMs,
        elements,
      };
    });
  }

  /**
   * Opens a page, and scrolls a part of it by some pixels in each frame.
   * @param {string} url
   * @param {{ isReady: string, selector: string, step: number, frames: number }} scroll
   * @returns {Promise<{ frames: number, perSecond: number, p95Ms: number, late: number, cpuMs: number, maxCpuMs: number }>}
   * `cpuMs` is the CPU time of the main thread for a frame, `maxCpuMs` that of the most expensive frame, `late` the
   * number of frames that came later than at 60 frames a second
   */
  async measureScrolling(url, { isReady, selector, step, frames }) {
    return this.#withPage({}, async ({ page, session, readCpu }) => {
      await page.goto(url, { waitUntil: 'commit' });
      await readyIn(page, isReady);
      const tasks = await startTasks(session);
      const before = await readCpu();
      const times = await page.evaluate(scrollInFrames, { selector, step, frames });
      const after = await readCpu();
      const cpuOfFrames = await tasks();
      const lengths = times.slice(1).map((time, index) => time - times[index]);
      lengths.sort((a, b) => a - b);
      return {
        frames: lengths.length,
        perSecond: (lengths.length * MS_PER_SECOND) / lengths.reduce((sum, it) => sum + it, 0),
        p95Ms: lengths[Math.floor(lengths.length * 0.95)] ?? 0,
        late: lengths.filter((it) => it > FRAME_MS).length,
        cpuMs: (after.taskMs - before.taskMs) / times.length,
        maxCpuMs: Math.max(0, ...cpuOfFrames),
      };
    });
  }

  async #withPage({ phone = false }, work) {
    const context = await this.#browser.newContext({ viewport: phone ? PHONE : VIEWPORT, reducedMotion: 'reduce' });
    try {
      const page = await context.newPage();
      const session = await context.newCDPSession(page);
      await session.send('Performance.enable', { timeDomain: 'threadTicks' });
      return await work({ page, session, readCpu: () => readCpu(session) });
    } finally {
      await context.close();
    }
  }
}

/** Returns the CPU time of a page's main thread so far. */
async function readCpu(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  const secondsOf = (wanted) => metrics.find(({ name }) => name === wanted)?.value ?? 0;
  return { taskMs: secondsOf('TaskDuration') * MS_PER_SECOND, scriptMs: secondsOf('ScriptDuration') * MS_PER_SECOND };
}

/** Starts a trace of the main thread. The returned function ends it, and returns the CPU milliseconds of each frame. */
async function startTasks(session) {
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  const includedCategories = ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'];
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories } });
  return async () => {
    const ended = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.end');
    await ended;
    return cpuOfFrames(events);
  };
}

/** Sums the CPU time of the tasks of a page's main thread from the begin of one frame to the begin of the next. */
function cpuOfFrames(events) {
  const fired = events.filter(({ name, ph }) => name === 'FireAnimationFrame' && ph === 'X');
  const thread = fired[0]?.tid;
  const process = fired[0]?.pid;
  const tasks = events.filter(
    ({ name, ph, pid, tid }) =>
      ph === 'X' && pid === process && tid === thread && /^(ThreadControllerImpl::)?RunTask$/.test(name),
  );
  tasks.sort((a, b) => a.ts - b.ts);
  const begins = fired.map(({ ts }) => ts).toSorted((a, b) => a - b);
  const sums = begins.map(() => 0);
  let frame = -1;
  for (const { ts, dur = 0, tdur = dur } of tasks) {
    // The task that fires a frame begins just before it.
    while (frame + 1 < begins.length && begins[frame + 1] <= ts + dur) frame += 1;
    if (frame >= 0) sums[frame] += tdur / MS_PER_SECOND;
  }
  return sums;
}

function recordLongTasks() {
  globalThis.longTasks = [];
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration);
  });
  observer.observe({ type: 'longtask', buffered: true });
}

/** Resolves with the milliseconds since the navigation, in the frame after the expression became true. */
function readyIn(page, isReady) {
  // Evaluated as one text: the pages forbid code that is made from texts.
  return page.evaluate(`(${waitForReady.toString()})(() => ${isReady}, ${READY_WITHIN_MS})`);
}

async function waitForReady(isReady, withinMs) {
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  while (!isReady()) {
    if (performance.now() > withinMs)
      throw new Error(`Not ready: ${isReady}\n${document.body.innerText.slice(0, 500)}`);
    await nextFrame();
  }
  await nextFrame();
  return performance.now();
}

function countPage() {
  return {
    longestMs: Math.max(0, ...globalThis.longTasks),
    elements: document.querySelectorAll('*').length,
  };
}

/** Scrolls an element by some pixels in each frame. Resolves with the times of the frames. */
function scrollInFrames({ selector, step, frames }) {
  const box = document.querySelector(selector);
  if (!box) throw new Error(`There is no ${selector}`);
  return new Promise((resolve) => {
    const times = [];
    const next = (time) => {
      times.push(time);
      box.scrollTop += step;
      if (times.length > frames) resolve(times);
      else requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
}
