import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/**
 * Module for `NODE_OPTIONS=--import=<this file>`: measures the event loop of the service from inside. The inspector
 * reads the global `parleyEventLoop`. Nothing is measured before `begin()` or while measuring is suspended.
 */
const RESOLUTION_MS = 5;
/** Minimum milliseconds of a pause that is listed; shorter pauses are only in the histogram. */
const NOTED_MS = 50;
const LONGEST = 3;
const BUSIEST = 5;
const GC_NOTED_MS = 5;
const KINDS = { 1: 'scavenge', 2: 'minor mark-sweep', 4: 'mark-sweep', 8: 'incremental marking', 16: 'weak callbacks' };

/** Histograms, one for each period of measurement, since histograms of delays cannot be added up. */
const stretches = [];
/** Longest pauses so far, and those with the most CPU time. */
let pauses = [];
let collections = [];
let delays;
let last;

new PerformanceObserver((list) => {
  for (const { startTime, duration, detail } of list.getEntries()) {
    if (delays && duration >= GC_NOTED_MS) collections.push({ startTime, duration, kind: KINDS[detail.kind] });
  }
  collections = collections.slice(-200);
}).observe({ entryTypes: ['gc'] });

setInterval(() => {
  const now = { at: performance.now(), cpu: process.threadCpuUsage() };
  if (delays && last && now.at - last.at - RESOLUTION_MS >= NOTED_MS) setImmediate(note, last, now);
  last = now;
}, RESOLUTION_MS).unref();

/**
 * Lists a pause with its causes: garbage collections are reported a moment later, and the machine may have run other
 * processes.
 */
function note(from, to) {
  const within = collections.filter((it) => it.startTime < to.at && it.startTime + it.duration > from.at);
  const cpu = (usage) => (usage.user + usage.system) / 1000;
  pauses.push({
    ms: to.at - from.at - RESOLUTION_MS,
    cpuMs: cpu(to.cpu) - cpu(from.cpu),
    gcMs: within.reduce((sum, { duration }) => sum + duration, 0),
    gc: [...new Set(within.map(({ kind }) => kind))],
    from: performance.timeOrigin + from.at,
    to: performance.timeOrigin + to.at,
  });
  const longest = pauses.toSorted((a, b) => b.ms - a.ms);
  const busiest = pauses.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, BUSIEST);
  pauses = longest.filter((it, place) => place < LONGEST || busiest.includes(it));
}

globalThis.parleyEventLoop = {
  begin() {
    last = undefined;
    delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delays.enable();
  },
  suspend() {
    if (!delays) return;
    delays.disable();
    if (delays.count > 0) stretches.push(delays);
    delays = undefined;
  },
  /** Returns the delays in milliseconds, without the timer's own interval. A percentile is that of the worst period. */
  read() {
    const worst = (of) => Math.max(0, ...stretches.map((it) => of(it) / 1e6 - RESOLUTION_MS));
    return { max: worst((it) => it.max), p999: worst((it) => it.percentile(99.9)), pauses };
  },
};
