import { readFileSync } from 'node:fs';
import { accountMay, accountWarning, withPrivateGroup } from './server-account.js';

const account = { name: 'nobody', uid: 65_534, gid: 65_534 };

describe('accountMay', () => {
  it.each([
    ['its own file, by the owner bits only', { uid: 65_534, gid: 0, mode: 0o077 }, 4, false],
    ["its group's file, by the group bits only", { uid: 0, gid: 65_534, mode: 0o707 }, 1, false],
    ["another's home with mode 0700", { uid: 0, gid: 0, mode: 0o700 }, 1, false],
    ["another's directory with mode 0711, to pass", { uid: 0, gid: 0, mode: 0o40711 }, 1, true],
    ["another's directory with mode 0711, to read", { uid: 0, gid: 0, mode: 0o40711 }, 5, false],
    ["another's program with mode 0755", { uid: 0, gid: 0, mode: 0o100755 }, 5, true],
  ])('%s', (_name, file, wanted, expected) => {
    expect(accountMay(account, file, wanted)).toBe(expected);
  });
});

describe('withPrivateGroup', () => {
  it('gives the account a group that nobody is in', () => {
    const { name, uid, gid } = withPrivateGroup(account);
    expect({ name, uid }).toEqual({ name: 'nobody', uid: 65_534 });
    const groups = readFileSync('/etc/group', 'utf8').split('\n');
    expect(groups.filter((line) => line.split(':')[2] === String(gid))).toEqual(
      gid === account.gid ? [expect.anything()] : [],
    );
  });
});

describe('accountWarning', () => {
  it('is given for the account that many programs share, and for no other', () => {
    expect(accountWarning(account)).toContain('runs as nobody');
    expect(accountWarning({ ...account, name: 'postgres' })).toBeUndefined();
    expect(accountWarning(undefined)).toBeUndefined();
  });
});
