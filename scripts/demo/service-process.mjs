/** Child processes of the demo: their start, the wait until they are ready, and their end. */
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WATCHED } from '../ending.mjs';
import { NODE_ENVIRONMENT, NODE_FLAGS, ROOT, pinnedNode } from '../prepare.mjs';

const READY = / is ready on (https?:\/\/\S+)/;
const READY_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 25_000;
const TAIL = 4_000;

/** Process that serves HTTP. Its output is appended to a log file. */
export class ServiceProcess {
  #wasKilled = false;

  /**
   * @param name name of the process in messages
   * @param entry compiled entry point below dist/, without `.js`
   */
  constructor(name, entry, { args = [], env = {}, logFile }) {
    this.name = name;
    this.logFile = logFile;
    mkdirSync(dirname(logFile), { recursive: true });
    const log = createWriteStream(logFile, { flags: 'a' });
    // A group of its own, so that Ctrl-C reaches only the demo, which then ends everything in order.
    this.child = spawn(pinnedNode(), [...NODE_FLAGS, join(ROOT, 'dist', `${entry}.js`), ...args], {
      cwd: ROOT,
      env: { ...NODE_ENVIRONMENT, ...process.env, ...env, ...WATCHED },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    });
    this.output = '';
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.on('data', (chunk) => {
        this.output += chunk;
        log.write(chunk);
      });
    }
    this.ended = new Promise((resolve) => {
      this.child.on('error', (error) => resolve(error.message));
      this.child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
  }

  /**
   * Returns the base URL, without a trailing slash, once the process is ready. Rejects with the last output of the
   * process if it does not become ready.
   */
  async ready() {
    const { promise: patience, cancel } = timeout(READY_WITHIN_MS);
    const url = await Promise.race([
      new Promise((resolve) => {
        const look = () => {
          const found = READY.exec(this.output);
          if (found) resolve(found[1].replace(/\/$/, ''));
        };
        this.child.stdout.on('data', look);
        look();
      }),
      this.ended.then((how) => this.#fail(`ended at once (${how})`)),
      patience.then(() => this.#fail(`did not become ready within ${READY_WITHIN_MS / 1000} s`)),
    ]);
    cancel();
    return url;
  }

  /** Rejects when the process ends, unless it was killed by `kill`: then it stays pending. */
  async unexpectedEnd() {
    const how = await this.ended;
    if (this.#wasKilled) return new Promise(() => {});
    return this.#fail(`ended unexpectedly (${how})`);
  }

  /** Kills the process by SIGKILL, and waits until it has ended. */
  async kill() {
    this.#wasKilled = true;
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Sends SIGTERM to the process, and waits until it has ended. */
  async stop() {
    this.child.kill('SIGTERM');
    const { promise: patience, cancel } = timeout(STOP_WITHIN_MS);
    const late = await Promise.race([this.ended.then(() => false), patience.then(() => true)]);
    cancel();
    if (!late) return;
    this.child.kill('SIGKILL');
    await this.ended;
  }

  #fail(what) {
    const words = this.output.slice(-TAIL).trim();
    throw new Error(`${this.name} ${what}.${words ? `\n${words}` : ''}\nIts whole output: ${this.logFile}`);
  }
}

function timeout(ms) {
  let timer;
  const promise = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return { promise, cancel: () => clearTimeout(timer) };
}
