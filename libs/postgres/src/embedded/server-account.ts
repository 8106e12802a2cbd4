import { readFileSync } from 'node:fs';
import { PostgresRefusal } from './postgres-refusal.js';

/** An account of the operating system. */
export interface ServerAccount {
  name: string;
  uid: number;
  gid: number;
}

const CANDIDATES = ['parley', 'postgres', 'nobody'];
const SHARED_ACCOUNT = 'nobody';
/** Of these numbers systemd's list of who gets which says that nobody has them. */
const PRIVATE_GROUPS = { first: 60_578, last: 61_183 };

/**
 * The account to run PostgreSQL as. PostgreSQL refuses to run as root, so root lends it an unprivileged account: the
 * one that owns the data already, else `parley`, `postgres` or `nobody`; anyone else runs it as themselves
 * (`undefined`). Throws `PostgresRefusal` where root finds no such account.
 * @param owner who owns the data, where there is some
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
 * The account with a group that nobody else is in, where the system has one to give. The account may be another
 * program's as well; the server's files lie behind a folder that only this group passes, and a process of the same
 * account but another group can neither pass that nor look into the server. It can still end the server, which is then
 * started again.
 */
export function withPrivateGroup(account: ServerAccount): ServerAccount {
  const taken = new Set(readAccounts().map(({ gid }) => gid));
  for (const line of linesOf('/etc/group')) taken.add(Number(line.split(':')[2]));
  for (let gid = PRIVATE_GROUPS.first; gid <= PRIVATE_GROUPS.last; gid += 1) {
    if (!taken.has(gid)) return isMapped(gid) ? { ...account, gid } : account;
  }
  return account;
}

/** What the operator should know of the account, in one sentence; nothing where there is nothing to tell. */
export function accountWarning(account: ServerAccount | undefined): string | undefined {
  if (account?.name !== SHARED_ACCOUNT) return undefined;
  return (
    `PostgreSQL runs as ${SHARED_ACCOUNT}, an account that other programs use too: they cannot reach the data, but they ` +
    'could end the server. Give it one of its own: docs/OPERATIONS.md, "The account of the embedded PostgreSQL"'
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

/** Only making a data directory needs an account with a name. */
function accountOf(uid: number, accounts: readonly ServerAccount[]): ServerAccount {
  return accounts.find((it) => it.uid === uid) ?? { name: String(uid), uid, gid: uid };
}

/** In a user namespace (a container without privileges) only some numbers exist. */
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

/** Whether the account may do all of `wanted` (a sum of 4 read, 2 write, 1 search or execute) with the file. */
export function accountMay(
  account: ServerAccount,
  file: { uid: number; gid: number; mode: number },
  wanted: number,
): boolean {
  const shift = file.uid === account.uid ? 6 : file.gid === account.gid ? 3 : 0;
  return ((file.mode >> shift) & wanted) === wanted;
}
