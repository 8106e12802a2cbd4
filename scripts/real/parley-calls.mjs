/** Calls of Parley's public API by the checks with a real model. */
import { setTimeout as sleep } from 'node:timers/promises';
import { getRun } from '../demo/parley-api.mjs';

const LOOK_AGAIN_MS = 100;

/** Sends a request, and returns its JSON. @throws an error with the answer, if its status is not a success */
export async function request(url, method = 'GET', body) {
  const response = await fetch(url, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: HTTP ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/**
 * Reads a value again and again until it fits, and returns it.
 * @throws an error with the last value, if it does not fit in time
 */
export async function readUntil(read, fits, { what, within }) {
  const end = performance.now() + within;
  for (;;) {
    const value = await read();
    if (fits(value)) return value;
    if (performance.now() > end)
      throw new Error(`${what} did not happen within ${within / 1000} s; last seen: ${JSON.stringify(value)}`);
    await sleep(LOOK_AGAIN_MS);
  }
}

/**
 * Reads the events of a run until its end, and returns them with the run.
 * @param afterwards gets the cancel of the run, once its id is known
 * @throws an error with the last event, if the run does not end in time
 */
export async function endedRun(url, source, { what, within, afterwards = () => {} }) {
  const events = [];
  const read = async () => {
    for await (const event of source) {
      if (events.length === 0) afterwards(() => request(`${url}/api/runs/${event.runId}/cancel`, 'POST'));
      events.push(event);
    }
  };
  const seen = () => JSON.stringify(events.at(-1) ?? 'no event');
  const patience = new AbortController();
  const late = async () => {
    await sleep(within, undefined, { signal: patience.signal });
    throw new Error(`${what} did not happen within ${within / 1000} s; last seen: ${seen()}`);
  };
  const reading = read();
  const limit = late();
  // The one that loses must not end the process.
  for (const promise of [reading, limit]) promise.catch(() => {});
  await Promise.race([reading, limit]).finally(() => patience.abort());
  return { events, run: await getRun(url, events.at(-1).runId) };
}

/** Throws an error with what was seen, unless a condition is true. */
export function expect(condition, what, seen) {
  if (!condition) throw new Error(`${what}; seen: ${JSON.stringify(seen)}`);
}

/** Returns a workflow with one agent between its input and its output. */
export function oneAgent(name, config, more = {}) {
  return {
    name,
    nodes: [
      { id: 'task', type: 'input' },
      { id: name, type: 'agent', config: { prompt: '{{task}}', temperature: 0, ...config }, ...more },
      { id: 'result', type: 'output', config: { prompt: `{{${name}}}` } },
    ],
    edges: [
      { from: 'task', to: name },
      { from: name, to: 'result' },
    ],
  };
}

/** Returns the Parts of the result of a run. @throws an error with its reason, if the run did not complete */
export function resultOf(run) {
  if (run.status !== 'completed') throw new Error(`The run ended ${run.status}: ${run.error?.message ?? 'no reason'}`);
  return (run.result ?? []).flatMap(({ parts }) => parts);
}
