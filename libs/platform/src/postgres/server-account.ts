import { readFileSync } from 'node:fs';
import { PostgresRefusal } from './postgres-refusal.js';

/** An account of the operating system. */
export interface ServerAccount {
  name: string;
  uid: number;
  gid: number;
}

const CANDIDATES = ['postgres', 'nobody'];

/**
 * The account to run PostgreSQL as. PostgreSQL refuses to run as root, so root lends it an existing unprivileged
 * account; anyone else runs it as themselves (`undefined`). Throws `PostgresRefusal` where root finds no such account.
 */
export function serverAccount(): ServerAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readAccounts();
  for (const name of CANDIDATES) {
    const account = accounts.get(name);
    if (account) return account;
  }
  throw new PostgresRefusal(
    'PostgreSQL does not run as root, and this system has neither an account "postgres" nor "nobody". ' +
      'Start Parley as an ordinary user, or set DATABASE_URL.',
  );
}

function readAccounts(): Map<string, ServerAccount> {
  const accounts = new Map<string, ServerAccount>();
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name = '', , uid, gid] = line.split(':');
    const account = { name, uid: Number(uid), gid: Number(gid) };
    if (account.uid > 0 && Number.isInteger(account.gid)) accounts.set(name, account);
  }
  return accounts;
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
