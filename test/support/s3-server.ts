import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installOwnPackages } from '../../scripts/own-packages.mjs';
import { endChild } from './end-child.js';
import { freePort } from './parley.js';
import { before } from './until.js';

const FOLDER = join(import.meta.dirname, '../s3');
/** Time limit of the installation: if the registry answers at all, it takes a fraction of this time. */
const LONGEST_INSTALL_MS = 90_000;

export const S3_BUCKET = 'parley-files';
/** Key pair that the server accepts. */
export const S3_KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/**
 * Describes tests that need an S3 server, which is installed if it is missing. If that fails, they are reported as
 * skipped, with the reason.
 */
export function describeWithS3(name: string, tests: () => void): void {
  const failure = installOwnPackages(FOLDER, 'an S3 server for tests', LONGEST_INSTALL_MS);
  if (failure === undefined) describe(name, tests);
  else describe['skip'](`${name} (skipped: no S3 server can be installed: ${failure.split('\n', 1)[0]})`, tests);
}

/** S3 server on loopback with one bucket, which can be stopped and restarted on its port. */
export class S3Server {
  private readonly folder = mkdtempSync(join(tmpdir(), 'parley-s3-server-'));
  private child: ChildProcess | undefined;

  private constructor(private readonly port: number) {}

  static async start(): Promise<S3Server> {
    const server = new S3Server(await freePort());
    await server.restart();
    return server;
  }

  /** Base URL without a trailing slash. */
  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Number of stored objects. */
  get objects(): number {
    const bucket = join(this.folder, 'buckets', S3_BUCKET);
    const names = existsSync(bucket) ? readdirSync(bucket, { recursive: true, encoding: 'utf8' }) : [];
    return names.filter((name) => name.endsWith('_S3rver_object')).length;
  }

  /** Returns the environment of a service that stores its files on this server. */
  env(): Record<string, string> {
    const [access, secret] = [join(this.folder, 'access-key'), join(this.folder, 'secret-key')];
    writeFileSync(access, S3_KEYS.accessKeyId);
    writeFileSync(secret, S3_KEYS.secretAccessKey);
    return {
      FILES_S3_ENDPOINT: this.endpoint,
      FILES_S3_BUCKET: S3_BUCKET,
      FILES_S3_ACCESS_KEY_FILE: access,
      FILES_S3_SECRET_KEY_FILE: secret,
    };
  }

  /** Starts the server again, with all stored objects. */
  async restart(): Promise<void> {
    const args = [join(this.folder, 'buckets'), S3_BUCKET, String(this.port)];
    const child = fork(join(FOLDER, 'server.mjs'), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.child = child;
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`The S3 server ended with ${String(code)}`);
    });
    // It ends with every test.
    ended.catch(() => undefined);
    await before(Promise.race([once(child, 'message'), ended]), { what: 'the S3 server' });
  }

  /** Stops the server; stored objects are kept. */
  async stop(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (child) await endChild(child, 'SIGKILL');
  }

  /** Stops the server, and removes the stored objects. */
  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
