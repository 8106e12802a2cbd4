import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.mjs';
import { before } from './until.js';

/** Entry of an agent's notes about a Task. */
export interface AgentNote {
  about?: string;
  /** Text of a received Message. */
  heard?: string;
  messageId?: string;
  /** Index in SCRIPT of a sent event. */
  said?: number;
  taskId?: string;
  /** Id of the agent's Task that was canceled. */
  canceled?: string;
  /** Index of the first event that the agent sends for a Task after a restart. */
  revived?: number;
}

/**
 * Agent on the official SDK's server in a separate process, which sends the events of SCRIPT one by one. With
 * `survives` it stores its Tasks in files, and continues them after a restart; otherwise it forgets them.
 */
export class MortalAgent {
  private child: ChildProcess | undefined;
  private port = '';
  private readonly allowed: Record<string, number> = {};
  private readonly folder = mkdtempSync(join(tmpdir(), 'mortal-agent-'));

  private constructor(private readonly survives: boolean) {}

  static async start({ survives }: { survives: boolean }): Promise<MortalAgent> {
    const agent = new MortalAgent(survives);
    agent.port = String(await freePort());
    await agent.begin();
    return agent;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts the process; a restart uses the same port. */
  async begin(): Promise<void> {
    const execArgv = ['--import', join(import.meta.dirname, 'typescript-hooks.mjs')];
    const args = [this.notesPath, this.port, ...(this.survives ? [this.folder] : [])];
    this.child = fork(join(import.meta.dirname, 'mortal-agent-process.ts'), args, {
      execArgv,
      // The SDK writes each refused request to its output.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    await before(once(this.child, 'message'), { what: 'the agent to start' });
    this.child.send(this.allowed);
  }

  /** Allows the agent to send the first `count` events of SCRIPT, for Tasks whose Message begins with a word. */
  allow(counts: Readonly<Record<string, number>>): void {
    Object.assign(this.allowed, counts);
    if (this.child?.connected) this.child.send(counts);
  }

  /** Kills the process by SIGKILL. */
  async kill(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  /** Returns the agent's notes about the Tasks whose Message begins with a word, or about all Tasks. */
  notes(about?: string): AgentNote[] {
    const lines = existsSync(this.notesPath) ? readFileSync(this.notesPath, 'utf8').split('\n') : [];
    // The last line may be incomplete.
    const all = lines.slice(0, -1).map((line) => JSON.parse(line) as AgentNote);
    return about === undefined ? all : all.filter((it) => it.about === about);
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }

  private get notesPath(): string {
    return join(this.folder, 'notes');
  }
}
