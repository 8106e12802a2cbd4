import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClusterPlan, dataFolder, type NodePlan } from './cluster-settings.js';
import { type KeptProcesses, signalled } from './kept-processes.js';

const ANSWER_MS = 1_500;

/** PostgreSQL server with the Patroni that manages it. */
export class PatroniNode {
  private patroniPid = 0;

  constructor(
    private readonly plan: ClusterPlan,
    readonly node: NodePlan,
    private readonly kept: KeptProcesses,
    private readonly program: string,
    private readonly settings: string,
  ) {}

  get name(): string {
    return this.node.name;
  }

  /** Starts Patroni, which starts PostgreSQL. */
  async start(): Promise<void> {
    this.patroniPid = await this.kept.start(this.name, this.program, [this.settings]);
  }

  /**
   * Kills Patroni by SIGKILL, so that it does not hand the lead over, and the postmaster, after which its sessions end
   * by themselves.
   */
  kill(): void {
    const postmaster = this.postmaster();
    signalled(this.patroniPid, 'SIGKILL');
    if (postmaster !== undefined) signalled(postmaster, 'SIGKILL');
  }

  /** Suspends all processes of this node (SIGSTOP). It answers nothing, and its connections stay open. */
  freeze(): void {
    for (const pid of this.processes()) signalled(pid, 'SIGSTOP');
  }

  /**
   * Resumes PostgreSQL with its old connections (SIGCONT), and starts a new Patroni: the suspended one might take the
   * lead back (3.0.2 with etcd's API 3), which a watchdog prevents on real hosts.
   */
  async thaw(): Promise<void> {
    signalled(this.patroniPid, 'SIGKILL');
    for (const pid of this.processes()) signalled(pid, 'SIGCONT');
    await this.start();
  }

  /** Returns true if Patroni reports this node as the leader. */
  async leads(): Promise<boolean> {
    return (await this.ask('GET', '/primary')) === 200;
  }

  /** Returns true if a commit of the leader waits for this node. */
  async isSynchronous(): Promise<boolean> {
    return (await this.ask('GET', '/synchronous')) === 200;
  }

  /** Makes Patroni hand the lead over to another node, in order. */
  async handOver(to: PatroniNode): Promise<void> {
    const order = JSON.stringify({ leader: this.name, candidate: to.name });
    const status = await this.ask('POST', '/switchover', order, 60_000);
    if (status !== 200) throw new Error(`${this.name} did not hand the lead over: ${status}`);
  }

  private processes(): number[] {
    return [this.patroniPid, ...this.kept.in(dataFolder(this.plan, this.node))];
  }

  private postmaster(): number | undefined {
    const file = join(dataFolder(this.plan, this.node), 'postmaster.pid');
    return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n', 1)[0]) : undefined;
  }

  private async ask(method: string, path: string, body?: string, within = ANSWER_MS): Promise<number | undefined> {
    const url = `http://127.0.0.1:${this.node.restPort}${path}`;
    try {
      const reply = await fetch(url, {
        method,
        signal: AbortSignal.timeout(within),
        ...(body !== undefined && { body }),
      });
      await reply.body?.cancel();
      return reply.status;
    } catch {
      return undefined;
    }
  }
}
