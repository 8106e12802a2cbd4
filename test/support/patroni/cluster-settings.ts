import { join } from 'node:path';

/** Ports and name of one of the two PostgreSQL nodes. */
export interface NodePlan {
  name: string;
  /** Port of PostgreSQL, on 127.0.0.1. */
  port: number;
  /** Port of Patroni's REST API. */
  restPort: number;
}

/** Configuration of a cluster that is not running yet. */
export interface ClusterPlan {
  /** Folder of all files of the cluster. */
  folder: string;
  /** Folder of PostgreSQL's programs. */
  binaries: string;
  password: string;
  etcdPort: number;
  etcdPeerPort: number;
  /** Port of HAProxy, which leads to the leader. */
  port: number;
  nodes: readonly NodePlan[];
}

/**
 * Timing of Patroni in seconds. A lost leader is replaced once its key has expired (`ttl`, at least 20). For a living
 * leader to renew its key in time, `loop_wait + 2 * retry_timeout` may not exceed `ttl`.
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

/** Returns the arguments of `etcd`. */
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

/** Returns the configuration of one node's Patroni, as JSON, which is valid YAML. */
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

/**
 * Returns the settings that all nodes share: a commit is acknowledged when the synchronous standby has it; without a
 * standby, commits wait.
 */
function sharedSettings(): object {
  return {
    ...TIMING,
    synchronous_mode: true,
    synchronous_mode_strict: true,
    maximum_lag_on_failover: 1_048_576,
    postgresql: { use_pg_rewind: true, use_slots: true, parameters: POSTGRES_PARAMETERS },
  };
}

/**
 * Returns the configuration of HAProxy: it leads to the node that Patroni reports as the leader, and closes the
 * connections to any other node.
 */
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
