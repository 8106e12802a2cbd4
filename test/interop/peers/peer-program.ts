import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { endWithProcess } from '../../support/end-child.js';
import { freePort } from '../../support/parley.js';
import { until } from '../../support/until.js';
import { type PeerBinding, protocolBindingOf } from './peer-cells.js';
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
  /** Milliseconds after which the client is ended, and the call fails. */
  within?: number;
}

/** Default time limit of a call of a client. A call takes some seconds; a client that waits without end fails its cell. */
const LONGEST_CALL_MS = 120_000;

/**
 * Program of a peer. Its commands are the same in all languages:
 * - `a2a-serve BINDING PORT CARD_PORT ADDRESS`: serves an agent at PORT, and its card, which names ADDRESS, at CARD_PORT
 *   (for the HTTP bindings CARD_PORT is PORT). With PEER_KEY every call needs this key in the header `x-api-key`.
 * - `a2a-call BASE BINDING OPERATION …`: does an operation as client, and prints each answer as a line of JSON, an error
 *   as `{"error": …}`. PEER_KEY is sent in the header `x-api-key`.
 * - With PEER_TLS_CERT and PEER_TLS_KEY, files in PEM, the agent and its card are served over TLS. SSL_CERT_FILE names
 *   the authority that agents and clients trust.
 * - With PEER_TOKENS every call needs a token that this server has issued; the agent asks the server at its path
 *   `introspect` (RFC 7662). With PEER_TOKEN_URL, PEER_CLIENT_ID and PEER_CLIENT_SECRET the client gets a token by the
 *   client credentials grant, and sends it.
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

  /** Returns the same program with further variables in its environment. */
  withEnv(env: Record<string, string>): PeerProgram {
    return new PeerProgram(this.command, this.folder, { ...this.env, ...env });
  }

  async serveAgent(binding: PeerBinding, env: Record<string, string> = {}): Promise<ServedPeer> {
    const port = await freePort();
    const cardPort = binding === 'GRPC' ? await freePort() : port;
    const relay = await PeerRelay.start(port);
    const scheme = this.env['PEER_TLS_CERT'] === undefined ? 'http' : 'https';
    const address = binding === 'GRPC' ? `127.0.0.1:${relay.port}` : `${scheme}://127.0.0.1:${relay.port}/`;
    const url = `${scheme}://127.0.0.1:${cardPort}`;
    const name = protocolBindingOf(binding);
    const child = await this.start(['a2a-serve', name, `${port}`, `${cardPort}`, address], env, async () => {
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

  /**
   * Runs a command of the client to its end.
   * @throws Error with its lines and complaints if it does not exit with 0, or not within the time limit
   */
  async call(args: readonly string[], options: CallOptions = {}): Promise<PeerCall> {
    const { env = {}, onLine, within = LONGEST_CALL_MS } = options;
    const child = this.spawn(args, env);
    let isLate = false;
    const limit = setTimeout(() => (isLate = child.kill('SIGKILL')), within);
    let errors = '';
    child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout! })) {
      lines.push(line);
      await onLine?.(line, lines.length - 1);
    }
    await until(() => child.exitCode !== null || child.signalCode !== null, { what: `the end of ${args.join(' ')}` });
    clearTimeout(limit);
    const end = isLate ? `did not end within ${within} ms` : `ended with ${child.exitCode ?? child.signalCode}`;
    assert.equal(child.exitCode, 0, `${args.join(' ')} ${end}\n${lines.join('\n')}\n${errors}`);
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
    const options = { cwd: this.folder, env: all, stdio: ['ignore', 'pipe', 'pipe'] } as const;
    return endWithProcess(spawn(program, [...first, ...args], options));
  }
}

async function stopAll(child: ChildProcess, relay: PeerRelay): Promise<void> {
  child.kill('SIGKILL');
  await relay.stop();
}
