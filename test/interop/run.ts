import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { run } from 'node:test';
import { recordFailedTests } from '../../scripts/failed-tests.mjs';
import { filledCells } from './cell-tests.js';
import { openPlaces, outcomesOf } from './cells.js';
import { withTables, withWritten } from './page.js';
import { ALL_PEERS, keepOutcomes, keptOutcomes, PEERS } from './peers/peer-catalog.js';
import { withFilledCells } from './peers/peer-cell-tests.js';
import { openCells, type PeerLanguage, type PeerOutcomes } from './peers/peer-cells.js';
import { peerTables } from './peers/peer-page.js';

/**
 * Runs the tests of all frameworks and of one peer of each language; `--all` runs all peers, and names run the files
 * that begin with one of them. Each test says what its cell says. The cells of the peers that ran are written, and if
 * all files ran, also those of the frameworks. `--page` runs no test, and writes the page from the cells.
 * Exits 0 only where every test passed and every cell is filled; in CI only where the cells and the page that are there
 * were right already.
 */
const ROOT = resolve(import.meta.dirname, '../..');
const CELLS = join(import.meta.dirname, 'cells.json');
const PAGE = join(import.meta.dirname, '../../docs/INTEROP.md');

const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
if (process.argv.includes('--page')) {
  writePeers();
  process.exit();
}
const files = globSync('*.interop.ts', { cwd: import.meta.dirname })
  .filter((file) => wanted.length === 0 || wanted.some((name) => file.startsWith(name)))
  .map((file) => join(import.meta.dirname, file));

// The handlers of 'exit' end the agents of the tests.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => process.exit(128 + constants.signals[signal]));

let passed = 0;
let failed = 0;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const tests = run({ files, isolation: 'none', concurrency: false });
tests.on('test:start', ({ name, nesting }) => {
  if (nesting === 0) say(`\n${name}`);
});
tests.on('test:pass', ({ name, details, skip }) => {
  if (skip !== undefined) return say(`– ${name}: skipped, ${skip === true ? 'without a reason' : skip}`);
  if (details.type === 'suite') return;
  passed += 1;
  say(`✓ ${name}`);
});
tests.on('test:fail', ({ name, file, details }) => {
  const { cause } = details.error;
  // A suite fails because of its tests, which are told already, or because of its hooks.
  if (details.type === 'suite' && /subtest/.test(details.error.message)) return;
  failed += 1;
  const message = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause ?? details.error);
  say(`✗ ${name}\n${message}`);
  recordFailedTests([{ file: relative(ROOT, file ?? import.meta.filename), name, message }]);
});
tests.on('end', () => {
  const arePeersAsKept = peersAreAsKept();
  const isAsExpected = (wanted.length > 0 || cellsAreFilled()) && arePeersAsKept;
  say(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 || !isAsExpected ? 1 : 0;
});
tests.resume();

/** Writes what the cells say, and tells which say nothing. */
function cellsAreFilled(): boolean {
  const outcomes = outcomesOf(filledCells());
  const open = openPlaces(outcomes);
  for (const { framework, direction, operation } of open)
    sayWrong(`${framework} ${direction}, ${operation}`, 'it says nothing, or failed');
  const written = [
    isNew(CELLS, () => `${JSON.stringify(outcomes, undefined, 2)}\n`),
    isNew(PAGE, (page) => withTables(page, outcomes)),
  ];
  const isWrong = written.includes(true) && process.env['CI'] !== undefined;
  if (isWrong) sayWrong('What is committed of the cells and of docs/INTEROP.md', 'it is not what ran: npm run interop');
  return open.length === 0 && !isWrong;
}

/** Writes the outcomes of the peers that ran, and their tables. @returns false in CI if they were other ones before */
function peersAreAsKept(): boolean {
  const isWrong = writePeers() && process.env['CI'] !== undefined;
  if (isWrong) sayWrong('The committed outcomes of the peers', 'they are not those of this run: npm run interop');
  const open = openCells(allOutcomes(), ALL_PEERS);
  for (const cell of open) sayWrong(cell, 'it says nothing, or failed');
  return open.length === 0 && !isWrong;
}

/** Writes the outcomes of the peers and their tables. @returns true if a file changed */
function writePeers(): boolean {
  const changes = Object.entries(PEERS).map(([language, peers]) =>
    keepOutcomes(language as PeerLanguage, withFilledCells(keptOutcomes(language as PeerLanguage), peers)),
  );
  const tables = peerTables(ALL_PEERS, allOutcomes());
  return [...changes, isNew(PAGE, (page) => withWritten(page, 'peers', tables))].includes(true);
}

function allOutcomes(): PeerOutcomes {
  const kept = (Object.keys(PEERS) as PeerLanguage[]).map(keptOutcomes);
  return Object.assign({}, ...kept) as PeerOutcomes;
}

function sayWrong(name: string, message: string): void {
  say(`✗ ${name}: ${message}`);
  recordFailedTests([{ file: relative(ROOT, import.meta.filename), name, message }]);
}

/** Whether a file was another one before. */
function isNew(file: string, text: (before: string) => string): boolean {
  const before = readFileSync(file, 'utf8');
  const after = text(before);
  if (after !== before) writeFileSync(file, after);
  return after !== before;
}
