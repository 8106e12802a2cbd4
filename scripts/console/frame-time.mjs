/**
 * Measures how long frames take in the view of a run with 500 nodes and 10,000 events (`node
 * scripts/console/frame-time.mjs`): while events arrive, while the console panel is scrolled, and while the graph is
 * moved. Prints medians and 95th percentiles.
 */
import { ensureChromium } from '../chromium.mjs';
import { ensureBuilt, ensureInstalled } from '../prepare.mjs';
import { Product } from './product.mjs';

const NODES = 500;
const EVENTS_PER_NODE = 20;
const AT = Date.parse('2026-11-22T10:00:00.000Z');

ensureInstalled();
ensureBuilt();
const { path, reason } = ensureChromium();
if (!path) throw new Error(reason);
const { chromium } = await import('playwright-core');
const product = new Product();
try {
  const { parleyUrl } = await product.start();
  const browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await serveRun(page);
  await page.addInitScript(recordFrames);
  const begun = performance.now();
  await page.goto(`${parleyUrl}/runs/told`);
  await page.locator('[data-line="done"]').waitFor();
  const loaded = Math.round(performance.now() - begun);
  console.log(
    `shown after ${loaded} ms, DOM: ${await page.evaluate('document.querySelectorAll("*").length')} elements`,
  );
  await report(page, 'while events come in');
  await page.evaluate(scrollConsole);
  await report(page, 'while the console is scrolled from its first line to its last');
  await moveGraph(page);
  await report(page, 'while the graph is moved');
  await browser.close();
} finally {
  await product.stop();
}

function recordFrames() {
  globalThis.frames = [];
  let last = performance.now();
  const next = (now) => {
    globalThis.frames.push(now - last);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

async function report(page, what) {
  const frames = (await page.evaluate('globalThis.frames.splice(0)')).toSorted((a, b) => a - b);
  const at = (share) => frames[Math.min(frames.length - 1, Math.floor(frames.length * share))]?.toFixed(1);
  console.log(`${what}: ${frames.length} frames, median ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`);
}

function scrollConsole() {
  const box = document.querySelector('[role="log"]');
  const steps = 120;
  return new Promise((resolve) => {
    let step = 0;
    const next = () => {
      box.scrollTop = (box.scrollHeight * step) / steps;
      step += 1;
      if (step > steps) resolve();
      else requestAnimationFrame(next);
    };
    next();
  });
}

async function moveGraph(page) {
  await page.mouse.move(700, 450);
  await page.mouse.down();
  for (let step = 1; step <= 60; step += 1) await page.mouse.move(700 - step * 6, 450);
  await page.mouse.up();
}

async function serveRun(page) {
  const nodes = Array.from({ length: NODES }, (_, index) => ({ id: `n${index}`, type: 'agent', config: {} }));
  const edges = nodes.slice(1).map(({ id }, index) => ({ from: nodes[index].id, to: id }));
  const events = nodes.flatMap(({ id }) => [
    { type: 'node.started', node_id: id, payload: { attempt: 1 } },
    ...Array.from({ length: EVENTS_PER_NODE - 2 }, (_, n) => ({
      type: 'model.response',
      node_id: id,
      output: `word ${n}`,
    })),
    { type: 'node.completed', node_id: id, status: 'completed' },
  ]);
  events.push({ type: 'done', status: 'completed', payload: { status: 'completed' } });
  const frames = events.map((event, index) => {
    const reported = { payload: {}, ...event, sequence: index + 1, timestamp: new Date(AT + index).toISOString() };
    return `id: ${index + 1}\ndata: ${JSON.stringify(reported)}\n\n`;
  });
  const body = frames.join('');
  await page.route('**/api/runs/told', (route) => route.fulfill({ json: { runId: 'told', inputs: {} } }));
  await page.route('**/api/runs/told/workflow', (route) => route.fulfill({ json: { name: 'told', nodes, edges } }));
  await page.route('**/api/runs/told/events?*', (route) => route.fulfill({ contentType: 'text/event-stream', body }));
}
