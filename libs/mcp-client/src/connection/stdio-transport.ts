import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AgentCallError } from '#libs/a2a-client';
import { hasMoreMembers, tooManyMembers } from '#libs/http-server';
import { nestsDeeper, textStart } from '#libs/protocol';
import { type McpCommand, withinTime } from '#libs/service';
import { type BodyBounds, DEEPEST_MESSAGE, TOO_DEEP } from './bounded-body.js';

const NEWLINE = 0x0a;

/** Splits incoming bytes into lines, in time linear in their length. Blank lines are skipped. */
export class LineReader {
  private pieces: Buffer[] = [];
  private length = 0;

  /** @param longest maximum length of a line in bytes */
  constructor(
    private readonly longest: number,
    private readonly line: (text: string) => void,
  ) {}

  /** Reads bytes. @returns `false` if a line is too long; the reader must not be used after that */
  feedBytes(piece: Buffer): boolean {
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      if (!this.keepPart(piece.subarray(start, end))) return false;
      this.emitLine();
      start = end + 1;
    }
    return this.keepPart(piece.subarray(start));
  }

  private keepPart(part: Buffer): boolean {
    this.length += part.byteLength;
    if (part.byteLength > 0) this.pieces.push(part);
    return this.length <= this.longest;
  }

  private emitLine(): void {
    const text = Buffer.concat(this.pieces, this.length).toString();
    this.pieces = [];
    this.length = 0;
    if (text.trim() !== '') this.line(text);
  }
}

/** Environment variables of this service that a program inherits. None of them is confidential. */
const HARMLESS = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];
/**
 * Maximum milliseconds that `close` waits for a program to exit before each signal, and for its last output after the
 * exit.
 */
const PATIENCE_MS = 2_000;

/**
 * Transport for a server that is a local program.
 * - Each message is one line: the program reads lines from standard input and writes lines to standard output. Its
 *   standard error goes to the log.
 * - The program runs without a shell. Its environment has the variables in HARMLESS and the variables that its config
 *   sets.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Standard error of the program. Together with `pid`, it tells the SDK that the server is a local program. */
  stderr: Readable | null = null;
  private child: ChildProcess | undefined;
  private closed = false;

  /**
   * @param bounds limits of one message
   * @param log receives lines of standard error
   */
  constructor(
    private readonly program: McpCommand,
    private readonly bounds: BodyBounds,
    private readonly log: (line: string) => void,
  ) {}

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Starts the program. @throws the error of the operating system if it cannot be started */
  async start(): Promise<void> {
    const { command, args, env, cwd } = this.program;
    const child = spawn(command, args, {
      env: { ...harmlessEnvironment(), ...env },
      cwd,
      stdio: 'pipe',
      windowsHide: true,
    });
    this.child = child;
    // After the start, this event reports a failed signal. Pipes have their own handlers.
    child.on('error', (error) => this.onerror?.(error));
    child.stdin.on('error', (error) => this.onerror?.(error));
    this.stderr = child.stderr;
    readBriefly(child.stderr, this.log);
    this.readOutput(child.stdout);
    await once(child, 'spawn');
    child.once('close', () => this.endConnection());
    // Child processes of the program may keep its pipes open.
    child.once('exit', () => void delay(PATIENCE_MS, undefined, { ref: false }).then(() => this.endConnection()));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.child?.stdin;
    if (!stdin?.writable || this.closed) throw new AgentCallError('connect', 'its connection has ended');
    if (!stdin.write(`${JSON.stringify(message)}\n`)) await waitForDrain(stdin);
  }

  /**
   * Stops the program: closes its standard input, then sends SIGTERM, then SIGKILL. It has up to two seconds to exit
   * before each signal.
   */
  async close(): Promise<void> {
    const { child } = this;
    if (child?.pid === undefined || this.closed) return this.endConnection();
    const gone: Promise<unknown> =
      child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit');
    const isGone = gone.then(() => true);
    child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await withinTime(isGone, PATIENCE_MS)) break;
      child.kill(signal);
    }
    this.endConnection();
  }

  private readOutput(stdout: Readable): void {
    const lines = new LineReader(this.bounds.bytes, (line) => this.receiveLine(line));
    stdout.on('data', (piece: Buffer) => {
      if (lines.feedBytes(piece)) return;
      this.refuseMessage(`its message is longer than ${this.bounds.bytes} bytes`);
      stdout.destroy();
    });
  }

  private receiveLine(line: string): void {
    if (hasMoreMembers(line, this.bounds.members))
      return this.refuseMessage(`its message ${tooManyMembers(this.bounds.members)}`);
    if (nestsDeeper(line, DEEPEST_MESSAGE)) return this.refuseMessage(`its message ${TOO_DEEP}`);
    const message = parseLine(line);
    if (message) this.onmessage?.(message);
  }

  private refuseMessage(reason: string): void {
    this.onerror?.(new AgentCallError('invalid-response', reason));
    void this.close();
  }

  private endConnection(): void {
    if (this.closed) return;
    this.closed = true;
    this.onclose?.();
  }
}

function harmlessEnvironment(): Record<string, string> {
  return Object.fromEntries(HARMLESS.flatMap((it) => (process.env[it] === undefined ? [] : [[it, process.env[it]]])));
}

/** Parses a line; `undefined` if it is not a JSON-RPC message, as some programs print a greeting. */
function parseLine(line: string): JSONRPCMessage | undefined {
  try {
    const value = JSON.parse(line) as JSONRPCMessage | null;
    return typeof value === 'object' && value !== null && 'jsonrpc' in value ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Resolves when the standard input of a program accepts more, or is closed. */
async function waitForDrain(stdin: Writable): Promise<void> {
  await Promise.race([once(stdin, 'drain'), once(stdin, 'close')]);
}

const MINUTE_MS = 60_000;
const LINES_A_MINUTE = 60;
const LONGEST_LINE = 1_000;

/**
 * Reads the whole standard error of a program: a program blocks if its output is not read. At most 60 lines of each
 * minute are logged; the others are discarded.
 */
function readBriefly(stream: Readable, log: (line: string) => void): void {
  let [left, until] = [0, 0];
  stream.on('data', (piece: Buffer) => {
    const now = performance.now();
    if (now >= until) [left, until] = [LINES_A_MINUTE, now + MINUTE_MS];
    if (left === 0) return;
    const lines = piece
      .subarray(0, LONGEST_LINE * left)
      .toString()
      .split('\n')
      .filter((it) => it.trim() !== '');
    for (const line of lines.slice(0, left)) log(textStart(line, LONGEST_LINE));
    left -= Math.min(left, lines.length);
  });
}
