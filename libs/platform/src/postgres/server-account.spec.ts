import { accountMay } from './server-account.js';

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
