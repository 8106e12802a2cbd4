/** Calls of Parley's public API by the checks with a real model. */
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_AGAIN_MS = 250;

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

/** Returns all values of an asynchronous source. */
export async function collect(source) {
  const values = [];
  for await (const value of source) values.push(value);
  return values;
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
