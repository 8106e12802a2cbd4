import { join } from 'node:path';

/** One of the two PostgreSQL nodes. */
export interface NodePlan {
  name: string;
  /** Of PostgreSQL, on 127.0.0.1. */
  port: number;
  /** Of Patroni's REST API. */
  restPort: number;
}

/** What a cluster is made of, before anything runs. */
export interface ClusterPlan {
  /** Everything lies and runs in it. */
  folder: string;
  /** Where PostgreSQL's own programs are. */
  binaries: string;
  password: string;
  etcdPort: number;
  etcdPeerPort: number;
  /** Of HAProxy: leads to the leader. */
  port: number;
  nodes: readonly NodePlan[];
}

/**
 * Seconds. A leader that is gone is replaced once its key has run out (`ttl`, at least 20); for that a living one renews
 * it in time, `loop_wait + 2 * retry_timeout` may not be more.
 */
export const TIMING = { ttl: 20, loop_wait: 4, retry_timeout: 8 } as const;

const POSTGRES_PARAMETERS = {
  shared_buffers: '32MB',
  max_connections: 300,
  max_wal_size: '256MB',
  wal_keep_size: '128MB',
  // Processes are killed here, the machine is not.
  fsync: 'off',
};

/** What `etcd` is started with. */
export function etcdArguments({ folder, etcdPort, etcdPeerPort }: ClusterPlan): string[] {
  const [client, peer] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${etcdPeerPort}`];
  return Object.entries({
    name: 'etcd',
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `etcd=${peer}`,
    'log-level': 'error',
  }).map(([key, value]) => `--${key}=${value}`);
}

/** The configuration of one node's Patroni (JSON, which is YAML as well). */
export function patroniSettings(plan: ClusterPlan, node: NodePlan): object {
  const home = join(plan.folder, node.name);
  const account = (username: string): object => ({ username, password: plan.password });
  return {
    scope: 'parley',
    name: node.name,
    restapi: { listen: `127.0.0.1:${node.restPort}`, connect_address: `127.0.0.1:${node.restPort}` },
    etcd3: { host: `127.0.0.1:${plan.etcdPort}` },
    bootstrap: { dcs: sharedSettings(), initdb: ['data-checksums', { encoding: 'UTF8' }, { locale: 'C' }] },
    postgresql: {
      listen: `127.0.0.1:${node.port}`,
      connect_address: `127.0.0.1:${node.port}`,
      data_dir: dataFolder(plan, node),
      bin_dir: plan.binaries,
      pgpass: join(home, 'pgpass'),
      parameters: { unix_socket_directories: home },
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
      authentication: {
        superuser: account('postgres'),
        replication: account('replicator'),
        rewind: account('rewinder'),
      },
      basebackup: [{ checkpoint: 'fast' }],
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
    watchdog: { mode: 'off' },
  };
}

/** What all nodes agree on: a commit is answered when the standby has it; while there is none, commits wait. */
function sharedSettings(): object {
  return {
    ...TIMING,
    synchronous_mode: true,
    synchronous_mode_strict: true,
    maximum_lag_on_failover: 1_048_576,
    postgresql: { use_pg_rewind: true, use_slots: true, parameters: POSTGRES_PARAMETERS },
  };
}

/** HAProxy leads to whom Patroni calls the leader, and ends the connections to whom it does not any more. */
export function haproxySettings({ port, nodes }: ClusterPlan): string {
  return [
    'global',
    '  maxconn 1000',
    'defaults',
    '  mode tcp',
    '  timeout connect 2s',
    '  timeout client 1h',
    '  timeout server 1h',
    '  timeout check 2s',
    'listen leader',
    `  bind 127.0.0.1:${port}`,
    '  option httpchk OPTIONS /primary',
    '  http-check expect status 200',
    '  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions',
    ...nodes.map((node) => `  server ${node.name} 127.0.0.1:${node.port} check port ${node.restPort}`),
    '',
  ].join('\n');
}

export function dataFolder({ folder }: ClusterPlan, { name }: NodePlan): string {
  return join(folder, name, 'data');
}
