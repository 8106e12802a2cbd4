import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { installPackages } from '../debian-install.js';

/** Required program of each Debian package. */
const PROGRAMS = { patroni: '/usr/bin/patroni', 'etcd-server': '/usr/bin/etcd', haproxy: '/usr/sbin/haproxy' } as const;
const VERSIONS = '/usr/lib/postgresql';

/** Paths of the programs of a cluster, and the account that runs them. */
export interface ClusterPrograms {
  patroni: string;
  etcd: string;
  haproxy: string;
  /** Folder of PostgreSQL's programs. */
  postgres: string;
  uid: number;
  gid: number;
}

/** Reports that this machine cannot run a cluster, with the reason. */
export class NoClusterHere extends Error {
  override readonly name = 'NoClusterHere';
}

/**
 * Returns the programs of a Patroni cluster from Debian's packages; installs those that are missing.
 * @throws NoClusterHere
 */
export function clusterPrograms(say: (line: string) => void): ClusterPrograms {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new NoClusterHere('Fail-over is tried out on Debian as root alone: its packages are used, and installed.');
  }
  const missing: string[] = Object.entries(PROGRAMS).flatMap(([name, path]) => (existsSync(path) ? [] : [name]));
  if (postgresPrograms() === undefined) missing.push('postgresql');
  if (missing.length > 0) {
    say(`Installing ${missing.join(', ')} (only the first time) …`);
    install(missing);
  }
  const { patroni, 'etcd-server': etcd, haproxy } = PROGRAMS;
  return { patroni, etcd, haproxy, postgres: postgresPrograms()!, ...account() };
}

/** Returns the folder of the newest installed version of PostgreSQL's programs. */
function postgresPrograms(): string | undefined {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).filter((it) => Number(it) >= 15) : [];
  const folders = versions.sort((a, b) => Number(b) - Number(a)).map((version) => `${VERSIONS}/${version}/bin`);
  return folders.find((folder) => existsSync(`${folder}/postgres`) && existsSync(`${folder}/pg_rewind`));
}

function install(packages: readonly string[]): void {
  try {
    installPackages(packages);
  } catch (error) {
    throw new NoClusterHere((error as Error).message);
  }
  const left = Object.values(PROGRAMS).filter((path) => !existsSync(path));
  if (left.length > 0 || postgresPrograms() === undefined) {
    throw new NoClusterHere(`Not there after the installation: ${left.join(', ') || 'PostgreSQL 15 or newer'}.`);
  }
}

/** Returns the account of Debian's packages that runs PostgreSQL, since PostgreSQL refuses to run as root. */
function account(): { uid: number; gid: number } {
  const id = (flag: string): number => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim());
  const [uid, gid] = [id('-u'), id('-g')];
  if (!(uid > 0 && gid > 0)) throw new NoClusterHere('There is no account "postgres" that could run PostgreSQL.');
  return { uid, gid };
}
