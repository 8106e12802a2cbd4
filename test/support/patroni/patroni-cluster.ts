import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../parley.js';
import { until } from '../until.js';
import {
  type ClusterPlan,
  etcdArguments,
  haproxySettings,
  type NodePlan,
  patroniSettings,
} from './cluster-settings.js';
import type { ClusterPrograms } from './debian-packages.js';
import { KeptProcesses } from './kept-processes.js';
import { PatroniNode } from './patroni-node.js';

const NODES = ['alpha', 'beta'];
/**
 * Time limit for a cluster to settle. A former leader that cannot be rewound copies the whole database, which takes
 * long on a busy machine.
 */
const SETTLED = { within: 600_000 };
const LOOK_MS = 200;
/**
 * Milliseconds after which a synchronous standby that is not named counts as forgotten. A standby that copies the
 * database is not named for a while, either.
 */
const UNNAMED_MS = 30_000;

/**
 * PostgreSQL with automatic failover, all on loopback: two nodes under Patroni in synchronous mode, etcd for the
 * leader's key, and HAProxy, which leads to the leader.
 */
export class PatroniCluster {
  private constructor(
    /** URL of the database, through HAProxy. */
    readonly url: string,
    readonly nodes: readonly PatroniNode[],
    private readonly kept: KeptProcesses,
    private readonly etcdPort: number,
  ) {}

  static async start(programs: ClusterPrograms): Promise<PatroniCluster> {
    const { uid, gid } = programs;
    const folder = mkdtempSync(join(tmpdir(), 'parley-failover-'));
    chownSync(folder, uid, gid);
    const kept = new KeptProcesses(folder, uid, gid);
    try {
      const plan = await planIn(folder, programs.postgres);
      const nodes = plan.nodes.map(
        (node) => new PatroniNode(plan, node, kept, programs.patroni, written(plan, node, programs)),
      );
      await kept.start('etcd', programs.etcd, etcdArguments(plan));
      const cluster = new PatroniCluster(
        `postgresql://postgres:${plan.password}@127.0.0.1:${plan.port}/postgres`,
        nodes,
        kept,
        plan.etcdPort,
      );
      for (const node of nodes) await node.start();
      await cluster.replicated();
      const file = join(folder, 'haproxy.cfg');
      writeFileSync(file, haproxySettings(plan), { mode: 0o644 });
      await kept.start('haproxy', programs.haproxy, ['-db', '-f', file]);
      await cluster.writable();
      return cluster;
    } catch (error) {
      const said = logsIn(folder);
      await kept.end();
      throw new Error(`${(error as Error).message}\n${said}`, { cause: error });
    }
  }

  async leader(): Promise<PatroniNode | undefined> {
    const lead = await Promise.all(this.nodes.map((node) => node.leads()));
    return this.nodes.find((_node, index) => lead[index]);
  }

  /**
   * Waits until there is a leader whose synchronous standby is the other node: the loss of the leader then loses no
   * commit.
   * A leader may write its own name to the key of the synchronous standby after it has lost the lead. Patroni 3.0.2
   * then never names a standby again (`Synchronous replication key updated by someone else`). This method removes such
   * a key, as an operator would.
   */
  replicated(say: (line: string) => void = () => undefined): Promise<{ leader: PatroniNode; standby: PatroniNode }> {
    let trouble = { name: '', since: 0 };
    const look = async (): Promise<{ leader: PatroniNode; standby: PatroniNode } | undefined> => {
      await delay(LOOK_MS);
      const leader = await this.leader();
      const standby = this.nodes.find((node) => node !== leader);
      if (leader && standby && (await standby.isSynchronous())) return { leader, standby };
      if (trouble.name !== leader?.name) trouble = { name: leader?.name ?? '', since: performance.now() };
      if (leader && performance.now() - trouble.since > UNNAMED_MS) {
        say(`${leader.name} names no synchronous standby: the key that keeps it from that is removed`);
        await this.removeStandbyKey();
        trouble.since = performance.now();
      }
      return undefined;
    };
    return until(look, { ...SETTLED, what: 'a leader and its synchronous standby' });
  }

  /** Waits until HAProxy leads to a writable server. */
  async writable(): Promise<void> {
    await until(() => writes(this.url), { ...SETTLED, what: 'a leader behind HAProxy' });
  }

  private async removeStandbyKey(): Promise<void> {
    const key = Buffer.from('/service/parley/sync').toString('base64');
    const url = `http://127.0.0.1:${this.etcdPort}/v3/kv/deleterange`;
    const { ok, status } = await fetch(url, { method: 'POST', body: JSON.stringify({ key }) });
    if (!ok) throw new Error(`etcd did not remove the key: ${status}`);
  }

  /** Returns the end of the logs of the cluster's programs. */
  logs(): string {
    return logsIn(this.kept.folder);
  }

  /** Ends all programs and removes their files. */
  stop(): Promise<void> {
    return this.kept.end();
  }
}

async function planIn(folder: string, binaries: string): Promise<ClusterPlan> {
  const nodes: NodePlan[] = [];
  for (const name of NODES) nodes.push({ name, port: await freePort(), restPort: await freePort() });
  const [etcdPort, etcdPeerPort, port] = [await freePort(), await freePort(), await freePort()];
  return { folder, binaries, password: randomBytes(12).toString('hex'), etcdPort, etcdPeerPort, port, nodes };
}

/** Writes the configuration of a node's Patroni. @returns the path of the file */
function written(plan: ClusterPlan, node: NodePlan, { uid, gid }: ClusterPrograms): string {
  const home = join(plan.folder, node.name);
  mkdirSync(home, { mode: 0o700 });
  const file = join(home, 'patroni.json');
  writeFileSync(file, JSON.stringify(patroniSettings(plan, node), undefined, 2), { mode: 0o600 });
  for (const path of [home, file]) chownSync(path, uid, gid);
  return file;
}

async function writes(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ reads: boolean }>('SELECT pg_is_in_recovery() AS reads');
    return rows[0]?.reads === false;
  } catch {
    return false;
  } finally {
    // A server that is frozen never answers that.
    void client.end().catch(() => undefined);
  }
}

function logsIn(folder: string): string {
  return ['etcd', ...NODES, 'haproxy']
    .map((name) => {
      try {
        return `${name}: ${readFileSync(join(folder, `${name}.log`), 'utf8').slice(-2_000)}`;
      } catch {
        return `${name}: nothing`;
      }
    })
    .join('\n');
}
