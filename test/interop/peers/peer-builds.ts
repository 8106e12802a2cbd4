import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runOrFail, sentenceInCi, whyNotHere } from '../languages.js';
import type { PeerLanguage } from './peer-cells.js';
import { PeerProgram } from './peer-program.js';

/** Folder in which the compiled programs stay, for later runs and other checkouts. */
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'parley-interop');
const IN_CI = process.env['CI'] !== undefined;

type BuiltLanguage = Exclude<PeerLanguage, 'Java' | 'Python'>;

/** Compiles the peers of a language. @returns the program and its first words */
const BUILDS: Readonly<Record<BuiltLanguage, (folder: string, target: string) => [string, ...string[]]>> = {
  Go: (folder, target) => {
    runOrFail(folder, 'go', ['build', '-o', join(target, 'peers'), '.'], { GOFLAGS: '-mod=readonly' });
    return [join(target, 'peers')];
  },
  Rust: (folder, target) => {
    const offline = IN_CI ? ['--offline'] : [];
    runOrFail(folder, 'cargo', ['build', '--quiet', '--locked', ...offline], { CARGO_TARGET_DIR: target });
    return [join(target, 'debug', 'peers')];
  },
};

const builds = new Map<string, readonly [string, ...string[]] | string>();

/**
 * Returns the function that compiles the peers of a language, once for all suites.
 * @returns a function whose result is the program, or in CI the sentence why it cannot be compiled
 */
export function buildOf(language: BuiltLanguage, ...words: string[]): () => PeerProgram | string {
  return programIn(language, language.toLowerCase(), words);
}

/** Returns the function that compiles a peer of a language that has a folder and a lock file of its own. */
export function buildIn(language: BuiltLanguage, lock: string): () => PeerProgram | string {
  return programIn(language, join(language.toLowerCase(), lock), []);
}

function programIn(language: BuiltLanguage, place: string, words: readonly string[]): () => PeerProgram | string {
  const folder = join(import.meta.dirname, place);
  return () => {
    const built = builds.get(place) ?? tryBuild(language, place);
    builds.set(place, built);
    return typeof built === 'string' ? built : new PeerProgram([...built, ...words], folder);
  };
}

/** Returns the sentence why the peers of a language cannot run on this machine, if so. */
export function whyNoPeers(language: PeerLanguage): string | undefined {
  return whyNotHere(language.toLowerCase() as Lowercase<PeerLanguage>);
}

/** True if all peers run, and not only one of each language (`npm run interop -- --all`, or a named language). */
export function runsAllPeers(): boolean {
  return process.argv.length > 2;
}

function tryBuild(language: BuiltLanguage, place: string): readonly [string, ...string[]] | string {
  const folder = join(import.meta.dirname, place);
  const target = join(CACHE, place);
  mkdirSync(target, { recursive: true });
  try {
    return BUILDS[language](folder, target);
  } catch (error) {
    return sentenceInCi(error as Error);
  }
}
