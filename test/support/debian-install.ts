import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Lock file: only one installation runs at a time, whichever test needs it. */
const LOCK = join(tmpdir(), 'parley-tests-install.lock');
/** Shell script that installs packages. `policy-rc.d` prevents them from starting services. */
const INSTALL = `
  policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ]; then
    trap 'rm -f $policy' EXIT
    printf '#!/bin/sh\\nexit 101\\n' > $policy && chmod 755 $policy
  fi
  apt-get update && apt-get install -y --no-install-recommends --no-upgrade "$@"`;

/**
 * Describes tests that need packages of Debian. Missing packages are installed if this process may; otherwise the tests
 * are reported as skipped, with the reason.
 */
export function describeWithPackages(
  packages: readonly string[],
  isThere: () => boolean,
  name: string,
  tests: () => void,
): void {
  const reason = whyMissing(packages, isThere);
  if (reason === undefined) describe(name, tests);
  else describe['skip'](`${name} (skipped: ${reason})`, tests);
}

function whyMissing(packages: readonly string[], isThere: () => boolean): string | undefined {
  if (isThere()) return undefined;
  const names = packages.join(', ');
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return `no ${names} here, nor may it be installed`;
  process.stdout.write(`Installing ${names} for tests (only the first time) …\n`);
  try {
    installPackages(packages);
  } catch (error) {
    return (error as Error).message;
  }
  return isThere() ? undefined : `Debian's ${names} has not what is needed`;
}

/** Installs packages. @throws Error with the output of a failed installation */
export function installPackages(packages: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status, stderr, error } = spawnSync('flock', [LOCK, 'sh', '-c', INSTALL, 'sh', ...packages], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0) throw new Error(`${packages.join(', ')} cannot be installed: ${error?.message ?? stderr.trim()}`);
}
