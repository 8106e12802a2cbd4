import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runOrFail, sentenceInCi } from '../../languages.js';
import { PeerProgram } from '../peer-program.js';

/** Folder in which the environments stay, for later runs and other checkouts. */
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'parley-interop', 'python');
const BIN = process.platform === 'win32' ? 'Scripts' : 'bin';

/** Environment of the peers: they leave no files in the work tree, and make no connections of their own. */
const ENV = {
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONWARNINGS: 'ignore',
  AGNO_TELEMETRY: 'false',
  ANONYMIZED_TELEMETRY: 'false',
  CREWAI_DISABLE_TELEMETRY: 'true',
  CREWAI_TRACING_ENABLED: 'false',
  OTEL_SDK_DISABLED: 'true',
  NO_PROXY: '*',
};

const programs = new Map<string, PeerProgram | string>();

/**
 * Returns the function that installs the packages of a peer, which its lock file pins with their hashes.
 * @param name folder of the peer
 * @returns a function whose result is the program, or in CI the sentence why the packages cannot be had
 */
export function pythonPeer(name: string): () => PeerProgram | string {
  return () => {
    const program = programs.get(name) ?? tryInstall(name);
    programs.set(name, program);
    return program;
  };
}

function tryInstall(name: string): PeerProgram | string {
  const folder = join(import.meta.dirname, name);
  try {
    const home = installed(name, (bin) => {
      const lock = join(folder, 'requirements.txt');
      runOrFail(folder, uv(), ['pip', 'install', '--quiet', '--python', bin, '--require-hashes', '-r', lock]);
    });
    const peer = join(import.meta.dirname, 'program', 'peer.py');
    return new PeerProgram([join(home, BIN, 'python'), peer, folder], folder, ENV);
  } catch (error) {
    return sentenceInCi(error as Error);
  }
}

/** Returns the path of the installer, which links packages where pip copies them. */
function uv(): string {
  const folder = join(import.meta.dirname, 'uv');
  const home = installed('uv', (bin) => {
    const lock = join(folder, 'requirements.txt');
    runOrFail(folder, bin, ['-m', 'pip', 'install', '--quiet', '--require-hashes', '-r', lock]);
  });
  return join(home, BIN, 'uv');
}

/** Makes an environment for a lock file, unless an earlier run did. @returns its folder */
function installed(name: string, install: (python: string) => void): string {
  const lock = readFileSync(join(import.meta.dirname, name, 'requirements.txt'));
  const home = join(CACHE, `${name}-${createHash('sha256').update(lock).digest('hex').slice(0, 16)}`);
  const stamp = join(home, 'installed');
  if (existsSync(stamp)) return home;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  runOrFail(CACHE, 'python3', ['-m', 'venv', ...(name === 'uv' ? [] : ['--without-pip']), home]);
  install(join(home, BIN, 'python'));
  writeFileSync(stamp, '');
  return home;
}
