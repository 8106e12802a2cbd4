import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Peer, PeerLanguage, PeerOutcomes } from './peer-cells.js';
import { GO_PEERS } from './go/go-peers.js';
import { JAVA_PEERS } from './java/java-peers.js';
import { PYTHON_PEERS } from './python/python-peers.js';
import { RUST_PEERS } from './rust/rust-peers.js';

/** Peers of each language. Each language has a folder here with its lock file and its outcomes. */
export const PEERS: Readonly<Partial<Record<PeerLanguage, readonly Peer[]>>> = {
  Go: GO_PEERS,
  Java: JAVA_PEERS,
  Python: PYTHON_PEERS,
  Rust: RUST_PEERS,
};

export const ALL_PEERS: readonly Peer[] = Object.values(PEERS).flat();

/** Returns the outcomes of earlier runs of a language. */
export function keptOutcomes(language: PeerLanguage): PeerOutcomes {
  const file = outcomesFile(language);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PeerOutcomes) : {};
}

/** Writes the outcomes of a language. @returns true if they are not those of the file before */
export function keepOutcomes(language: PeerLanguage, outcomes: PeerOutcomes): boolean {
  const text = `${JSON.stringify(outcomes, undefined, 2)}\n`;
  const file = outcomesFile(language);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return false;
  writeFileSync(file, text);
  return true;
}

function outcomesFile(language: PeerLanguage): string {
  return join(import.meta.dirname, language.toLowerCase(), 'outcomes.json');
}
