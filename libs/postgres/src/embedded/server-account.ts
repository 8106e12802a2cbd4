import { readFileSync } from 'node:fs';

/** Reports that the embedded PostgreSQL cannot be used; the message tells the operator what to change. */
export class PostgresRefusal extends Error {
  override readonly name = 'PostgresRefusal';
}

/** Account of the operating system that PostgreSQL may run as. */
export interface ServerAccount {
  name: string;
  uid: number;
  gid: number;
}

const CANDIDATES = ['parley', 'postgres', 'nobody'];
const SHARED_ACCOUNT = 'nobody';
/** Range of group ids that systemd's documented allocation leaves unassigned. */
const PRIVATE_GROUPS = { first: 60_578, last: 61_183 };

/**
 * Returns the account under which PostgreSQL runs; `undefined` if it runs as the user of this process. PostgreSQL
 * refuses to run as root. If root runs this process, the result is therefore an unprivileged account: the owner of
 * existing data, else `parley`, `postgres` or `nobody`.
 * @param owner uid of the owner of existing data
 * @throws PostgresRefusal if root runs this process and none of these accounts exists
 */
export function serverAccount(owner?: number): ServerAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readAccounts();
  const owning = owner === undefined || owner === 0 ? undefined : accountOf(owner, accounts);
  const account = owning ?? CANDIDATES.map((name) => accounts.find((it) => it.name === name)).find(Boolean);
  if (account) return account;
  throw new PostgresRefusal(
    `PostgreSQL does not run as root, and this system has none of the accounts ${CANDIDATES.join(', ')}. ` +
      'Make one (useradd --system parley), start Parley as an ordinary user, or set DATABASE_URL.',
  );
}

/**
 * Returns the account with an unused group in place of its own, if the system has one; otherwise the account unchanged.
 * Other programs may share the account. The server's files lie behind a folder that only this group passes. A process
 * of the same account but another group can neither pass the folder nor inspect the server. It can still end the
 * server, which is then restarted.
 */
export function withPrivateGroup(account: ServerAccount): ServerAccount {
  const taken = new Set(readAccounts().map(({ gid }) => gid));
  for (const line of linesOf('/etc/group')) taken.add(Number(line.split(':')[2]));
  for (let gid = PRIVATE_GROUPS.first; gid <= PRIVATE_GROUPS.last; gid += 1) {
    if (!taken.has(gid)) return isMapped(gid) ? { ...account, gid } : account;
  }
  return account;
}

/** Returns a warning about the account for the operator, in one sentence; `undefined` if there is none. */
export function accountWarning(account: ServerAccount | undefined): string | undefined {
  if (account?.name !== SHARED_ACCOUNT) return undefined;
  return (
    `PostgreSQL runs as ${SHARED_ACCOUNT}, an account that other programs use too: they cannot reach the data, but they ` +
    'could end the server. Give it one of its own: docs/operations/RUN.md, "The account of the embedded PostgreSQL"'
  );
}

function readAccounts(): ServerAccount[] {
  const accounts: ServerAccount[] = [];
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name = '', , uid, gid] = line.split(':');
    const account = { name, uid: Number(uid), gid: Number(gid) };
    if (account.uid > 0 && Number.isInteger(account.gid)) accounts.push(account);
  }
  return accounts;
}

/**
 * Returns the account of a uid. For a uid that no account has, the name and the group id are the uid: only creating a
 * data directory needs a real name.
 */
function accountOf(uid: number, accounts: readonly ServerAccount[]): ServerAccount {
  return accounts.find((it) => it.uid === uid) ?? { name: String(uid), uid, gid: uid };
}

/**
 * True if this process can use the group id. In a container without privileges, the user namespace has only some ids.
 */
function isMapped(group: number): boolean {
  const ranges = linesOf('/proc/self/gid_map').map((line) => line.trim().split(/\s+/).map(Number));
  return ranges.length === 0 || ranges.some(([first = 0, , count = 0]) => group >= first && group - first < count);
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

/** True if the account has all `wanted` rights (a sum of 4 read, 2 write, 1 search or execute) on the file. */
export function accountMay(
  account: ServerAccount,
  file: { uid: number; gid: number; mode: number },
  wanted: number,
): boolean {
  const shift = file.uid === account.uid ? 6 : file.gid === account.gid ? 3 : 0;
  return ((file.mode >> shift) & wanted) === wanted;
}
