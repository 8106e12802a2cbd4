/**
 * Files that a request executes in the built service with its embedded database. V8 counts the functions that run
 * during a repeated request, those of an idle second are subtracted, and the rest is mapped to sources.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runWorkflow, saveWorkflow } from '../demo/parley-api.mjs';
import { ServiceProcess } from '../demo/service-process.mjs';
import { ROOT } from '../prepare.mjs';
import { Inspector } from './inspector.mjs';
import { isShipped } from './sources.mjs';

const WARM = 20;
const COUNTED = 20;
const IDLE_MS = 1_000;
const IDLE_SECONDS = 3;
const INSPECTED = /ws:\/\/127\.0\.0\.1:\S+/;
const DONE = 'TASK_STATE_COMPLETED';
const ECHO = { name: 'echo', nodes: [{ id: 'echo', type: 'input' }], edges: [] };
/** Workflow of the README: an input, an agent without a model, and an output. */
const GREETING = {
  name: 'greeting',
  nodes: [
    { id: 'name', type: 'input' },
    { id: 'writer', type: 'agent', config: { prompt: 'Good day, {{name}}!' } },
    { id: 'result', type: 'output', config: { prompt: '{{writer}}' } },
  ],
  edges: [
    { from: 'name', to: 'writer' },
    { from: 'writer', to: 'result' },
  ],
};

/** Returns the measures of the service at run time, by id, each with the files. */
export async function measureRuntime() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-house-'));
  // So that the database of root, which runs as another account, lies in it as well.
  chmodSync(folder, 0o755);
  const env = { HOST: '127.0.0.1', PORT: '0', DATABASE_URL: '', DATA_DIR: join(folder, 'data'), AUTH_MODE: 'none' };
  const inspected = { ...env, NODE_OPTIONS: '--inspect=127.0.0.1:0' };
  const service = new ServiceProcess('parley', 'src/main', { env: inspected, logFile: join(folder, 'log') });
  try {
    const url = await service.ready();
    const inspector = await Inspector.open(INSPECTED.exec(service.output)[0]);
    for (const workflow of [ECHO, GREETING]) await saveWorkflow(url, workflow);
    const files = new ExecutedFiles(inspector);
    const sent = await files.during(() => send(url));
    const run = await files.during(() => finishRun(url));
    inspector.close();
    return { sendMessageFiles: { value: sent.length, files: sent }, runFiles: { value: run.length, files: run } };
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Sends a Message to an agent of four events, and waits for the Task's end. */
async function send(url) {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } });
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  const answer = await fetch(`${url}/a2a/workflows/echo/nodes/echo`, { method: 'POST', headers, body });
  const text = await answer.text();
  if (JSON.parse(text).result?.task?.status?.state !== DONE) throw new Error(`The Message was not answered: ${text}`);
}

/** Runs the workflow of three nodes, and reads its events to their end. */
async function finishRun(url) {
  let last;
  for await (const event of runWorkflow(url, GREETING.name, { name: 'Ada' })) last = event;
  if (last.status !== 'completed') throw new Error(`The run did not complete: ${JSON.stringify(last)}`);
}

/** Counts by V8's precise coverage: one call counts, wherever it comes from. */
class ExecutedFiles {
  #maps = new Map();

  constructor(inspector) {
    this.inspector = inspector;
  }

  /** Returns the shipped sources that a request executes once it has been made a few times. */
  async during(request) {
    for (let made = 0; made < WARM; made++) await request();
    await this.inspector.call('Profiler.enable');
    await this.inspector.call('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    const idle = new Set();
    for (let second = 0; second < IDLE_SECONDS; second++) {
      await delay(IDLE_MS);
      for (const { key } of await this.#executed()) idle.add(key);
    }
    let busy;
    for (let made = 0; made < COUNTED; made++) {
      await request();
      const executed = (await this.#executed()).filter(({ key }) => !idle.has(key));
      const keys = new Set(executed.map(({ key }) => key));
      // Upkeep that happens to run meanwhile is not in each of them.
      busy = busy?.filter(({ key }) => keys.has(key)) ?? executed;
    }
    await this.inspector.call('Profiler.stopPreciseCoverage');
    return [...new Set(busy.map((it) => this.#sourceOf(it)).filter((path) => path && isShipped(path)))];
  }

  async #executed() {
    const { result } = await this.inspector.call('Profiler.takePreciseCoverage');
    return result
      .map((script) => ({ ...script, file: fileOf(script.url) }))
      .filter(({ file }) => file?.startsWith(join(ROOT, 'dist')))
      .flatMap(({ file, functions }) => functions.map(({ ranges: [range] }) => ({ file, ...range })))
      .filter(({ count }) => count > 0)
      .map((it) => ({ ...it, key: `${it.file} ${it.startOffset}` }));
  }

  /**
   * Returns the path of the source of a function, relative to the root; `undefined` for code outside of this
   * repository.
   */
  #sourceOf({ file, startOffset }) {
    const { map, starts } = this.#mapOf(file);
    const line = starts.findLastIndex((start) => start <= startOffset);
    const { originalSource, generatedLine } = map?.findEntry(line, startOffset - starts[line]) ?? {};
    // The accessors of a chunk's exports come from no source: the entry found for them is that of a line above.
    return generatedLine === line && originalSource ? relative(ROOT, join(dirname(file), originalSource)) : undefined;
  }

  #mapOf(file) {
    if (!this.#maps.has(file)) {
      const starts = [0];
      for (const { index } of readFileSync(file, 'latin1').matchAll(/\n/g)) starts.push(index + 1);
      this.#maps.set(file, { map: new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8'))), starts });
    }
    return this.#maps.get(file);
  }
}

/** Returns the path of a script; scripts of the bundle are named by paths, modules by addresses. */
function fileOf(url) {
  return url.startsWith('file:') ? fileURLToPath(url) : url;
}
