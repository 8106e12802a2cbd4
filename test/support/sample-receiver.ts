import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { until } from './until.js';

const ROOT = resolve(import.meta.dirname, '../..');
const GUIDE = join(ROOT, 'docs/PUSH.md');
const VERIFIER = join(ROOT, 'docs/push/verify-notification.mjs');

/** Code blocks of docs/PUSH.md: the verifier to copy, or a server that uses the client. */
type Sample = 'verifier' | 'node:http' | 'express' | 'fastify';

/** Webhook receiver of docs/PUSH.md, run exactly as its code block says. */
export class SampleReceiver {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly printed: { out: string; err: string },
  ) {}

  /** @param url address on 127.0.0.1 where the receiver listens; the port must be free */
  static async start(parleyUrl: string, url: string, sample: Sample = 'verifier'): Promise<SampleReceiver> {
    const folder = mkdtempSync(join(tmpdir(), 'parley-receiver-'));
    writeFileSync(join(folder, 'receiver.mjs'), codeOfGuide(sample));
    copyFileSync(VERIFIER, join(folder, 'verify-notification.mjs'));
    installPackages(join(folder, 'node_modules'));
    const env = { PATH: process.env.PATH ?? '', PARLEY_URL: parleyUrl, HOOK_URL: url };
    const child = spawn(process.execPath, ['receiver.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const printed = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (printed.out += chunk));
    child.stderr.on('data', (chunk: Buffer) => (printed.err += chunk));
    const receiver = new SampleReceiver(url, child, folder, printed);
    await until(() => listens(url), { what: `the receiver of the guide to listen: ${printed.err}` });
    return receiver;
  }

  /** Sends the receiver a request. @returns the status of the response */
  async send(headers: Record<string, string>, body: string): Promise<number> {
    return (await fetch(this.url, { method: 'POST', headers, body })).status;
  }

  /** Sends a request to the receiver with the verifier. @returns the status, and the reason of a refusal */
  async take(headers: Record<string, string>, body: string): Promise<{ status: number; reason: string }> {
    const before = this.printed.err.length;
    const status = await this.send(headers, body);
    if (status === 401) await until(() => this.printed.err.length > before, { what: 'its reason' });
    return { status, reason: this.printed.err.slice(before).trim() };
  }

  /** Returns how often the receiver has printed that it accepted a notification. */
  taken(id: string): number {
    return this.printed.out.split('\n').filter((line) => line.startsWith(`${id} `)).length;
  }

  get output(): string {
    return this.printed.out;
  }

  async stop(): Promise<void> {
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null) await exit;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function codeOfGuide(sample: Sample): string {
  const block = sample === 'verifier' ? '## Verifying\n[^]*?```js\n' : `\`\`\`js receiver ${sample}\n`;
  const code = new RegExp(`${block}([^]*?)\`\`\``).exec(readFileSync(GUIDE, 'utf8'))?.[1];
  if (code === undefined) throw new Error(`${GUIDE} has no code block for ${sample}`);
  return code;
}

/** Installs what the code blocks import: packages of the repository, and the built client. */
function installPackages(folder: string): void {
  const client = join(folder, 'parley-a2a-client');
  mkdirSync(client, { recursive: true });
  for (const name of ['jose', 'express', 'fastify']) symlinkSync(join(ROOT, 'node_modules', name), join(folder, name));
  writeFileSync(join(client, 'package.json'), '{"type":"module","exports":"./index.js"}');
  const built = pathToFileURL(join(ROOT, 'dist/libs/client/src/index.js')).href;
  writeFileSync(join(client, 'index.js'), `export * from '${built}';`);
}

async function listens(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
