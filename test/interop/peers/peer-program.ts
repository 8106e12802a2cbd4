import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { freePort } from '../../support/parley.js';
import { until } from '../../support/until.js';
import type { PeerBinding } from './peer-cells.js';
import { PeerRelay } from './peer-relay.js';

/** Agent or MCP server of a peer in a process of its own, behind a relay. */
export interface ServedPeer {
  /** Base URL of the agent's card, or URL of the MCP server. */
  url: string;
  relay: PeerRelay;
  stop(): Promise<void>;
}

/** Answers of a client: one line of JSON an event. */
export interface PeerCall {
  lines: string[];
  /** Everything that the client wrote to standard error. */
  errors: string;
}

export interface CallOptions {
  env?: Record<string, string>;
  /** Called with each line as it is printed, and with its index. */
  onLine?(line: string, index: number): unknown;
}

/**
 * Program of a peer. Its commands are the same in all languages:
 * - `a2a-serve BINDING PORT CARD_PORT ADDRESS`: serves an agent at PORT, and its card, which names ADDRESS, at CARD_PORT
 *   (for the HTTP bindings CARD_PORT is PORT). With PEER_KEY every call needs this key in the header `x-api-key`.
 * - `a2a-call BASE BINDING OPERATION …`: does an operation as client, and prints each answer as a line of JSON, an error
 *   as `{"error": …}`. PEER_KEY is sent in the header `x-api-key`; PEER_CA is a file with a certificate to trust.
 * - `mcp-serve PORT` and `mcp-call URL OPERATION …`: the same for MCP, whose server is at the path `/mcp`.
 *
 * The first word of a Message selects what the agent does: `tell FILE` says "one ", waits until FILE exists if one is
 * given, and says "two"; `ask` asks "Which tea?", and then answers with the text in brackets; `wait` works until it is
 * canceled; `fail` fails with "no tea left"; `throw` raises "the kettle broke"; `context` answers with the id of its
 * context; to anything else it answers with the Parts of the Message that are no text.
 */
export class PeerProgram {
  constructor(
    private readonly command: readonly [string, ...string[]],
    private readonly folder: string,
    private readonly env: Record<string, string> = {},
  ) {}

  async serveAgent(binding: PeerBinding, env: Record<string, string> = {}): Promise<ServedPeer> {
    const port = await freePort();
    const cardPort = binding === 'GRPC' ? await freePort() : port;
    const relay = await PeerRelay.start(port);
    const address = binding === 'GRPC' ? `127.0.0.1:${relay.port}` : `http://127.0.0.1:${relay.port}/`;
    const url = `http://127.0.0.1:${cardPort}`;
    const child = await this.start(['a2a-serve', binding, `${port}`, `${cardPort}`, address], env, async () => {
      const { ok } = await fetch(`${url}/.well-known/agent-card.json`);
      return ok;
    });
    return { url, relay, stop: () => stopAll(child, relay) };
  }

  async serveTools(env: Record<string, string> = {}): Promise<ServedPeer> {
    const port = await freePort();
    const relay = await PeerRelay.start(port);
    const answers = (): Promise<boolean> => fetch(`http://127.0.0.1:${port}/mcp`).then(() => true);
    const child = await this.start(['mcp-serve', `${port}`], env, answers);
    return { url: `http://127.0.0.1:${relay.port}/mcp`, relay, stop: () => stopAll(child, relay) };
  }

  /** Runs a command of the client to its end. @throws Error with its complaints if it does not exit with 0 */
  async call(args: readonly string[], { env = {}, onLine }: CallOptions = {}): Promise<PeerCall> {
    const child = this.spawn(args, env);
    let errors = '';
    child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout! })) {
      lines.push(line);
      await onLine?.(line, lines.length - 1);
    }
    await until(() => child.exitCode !== null || child.signalCode !== null, { what: `the end of ${args.join(' ')}` });
    assert.equal(child.exitCode, 0, `${args.join(' ')}\n${lines.join('\n')}\n${errors}`);
    return { lines, errors };
  }

  private async start(
    args: readonly string[],
    env: Record<string, string>,
    answers: () => Promise<boolean>,
  ): Promise<ChildProcess> {
    const child = this.spawn(args, env);
    let output = '';
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-100_000)));
    const isReady = (): Promise<boolean> => {
      assert.equal(child.exitCode, null, output);
      return answers().catch(() => false);
    };
    await until(isReady, { what: `the peer to answer (${args.join(' ')})` });
    return child;
  }

  private spawn(args: readonly string[], env: Record<string, string>): ChildProcess {
    const [program, ...first] = this.command;
    const all = { ...process.env, ...this.env, ...env };
    return spawn(program, [...first, ...args], { cwd: this.folder, env: all, stdio: ['ignore', 'pipe', 'pipe'] });
  }
}

async function stopAll(child: ChildProcess, relay: PeerRelay): Promise<void> {
  child.kill('SIGKILL');
  await relay.stop();
}
