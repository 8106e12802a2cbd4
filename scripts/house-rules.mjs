/**
 * Checks the rules of this repository that no linter knows: the length of files, meaningless names, unfinished work,
 * indexes that do more than export by name, the parsing of untrusted texts, and the number of errors outside of
 * ParleyFault.
 * Prints one line per breach, and exits with 1 if there is one.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { basename, extname, join, relative, sep } from 'node:path';
import { measureErrors } from './house/measures.mjs';
import { breachesOf } from './house/ratchet.mjs';
import { shippedSources } from './house/sources.mjs';
import { ROOT } from './prepare.mjs';
import { textFaults } from './text-rules.mjs';

const FOLDERS = ['src', 'apps', 'libs', 'test', 'scripts', 'examples', 'deploy'];
const MAX_LINES = 400;
/**
 * Maximum number of lines of the files in ONE_CONCEPT, each of which is one concept that needs more lines than
 * MAX_LINES.
 */
const MAX_LINES_OF_ONE_CONCEPT = 600;
const ONE_CONCEPT = new Set([
  'libs/durable/src/agent-call.ts',
  'libs/durable/src/api/processes.ts',
  'libs/durable/src/durable-execution.ts',
  'libs/executor/src/execution-registry.ts',
  'libs/http-server/src/sse/sse-stream.ts',
  'libs/models/src/models.ts',
  'libs/nodes/src/agent/agent-log.ts',
  'libs/tasks/src/feed/task-feed.ts',
  'libs/tasks/src/journal/journal-statement.ts',
  'libs/tasks/src/journal/task-recording.ts',
  'libs/workflow-engine/src/execution/run-calls.ts',
  'libs/workflow-engine/src/execution/workflow-run.ts',
  'libs/workflow-engine/src/messages/node-message.ts',
  'libs/workflow-engine/src/state/frontier.ts',
  'libs/workflow-engine/src/work/work-budget.ts',
  'libs/workflows/src/catalog/workflow-catalog.ts',
  'libs/workflows/src/storage/postgres-workflow-store.ts',
  'src/bootstrap.ts',
  'test/contracts/postgres-task-store.e2e-spec.ts',
  'test/contracts/task-store.contract.ts',
]);
const CODE = new Set(['.ts', '.tsx', '.mjs', '.cjs', '.js']);
/** Pattern of the files that run as part of the service, the command or the console. */
const SERVING = /^(libs|apps|src)\/(?!.*(\.spec\.tsx?$|\/testing\/))/;
const SKIPPED = new Set(['node_modules', 'dist']);

/** Pattern of names that describe no concept, so that such a file or folder would collect unrelated code. */
const EMPTY_NAMES = /^(utils?|helpers?|common|misc|shared)$/i;
const FORBIDDEN = [
  { what: 'unfinished work', pattern: /\b(TODO|FIXME|XXX|HACK)\b/ },
  { what: 'a class that is called Base… or …Manager', pattern: /\bclass (Base[A-Z]\w*|\w+Manager)\b/ },
  { what: 'a silenced type error', pattern: /@ts-(ignore|nocheck|expect-error)\b/ },
  {
    what: 'a skipped or focused test',
    pattern: /\b(describe|it|test)\.(skip|only|todo)\b|\b(xit|xdescribe|fit|fdescribe)\(/,
  },
];

/**
 * Pattern of code that begins a transaction. Only `inTransaction` may do so, since it limits how long an open
 * transaction blocks others.
 */
const BEGINS_TRANSACTION = /['"`](BEGIN|START TRANSACTION)\b(?! IMMEDIATE)(?=[ ;'"`])/;
const MAY_BEGIN = new Set([
  'libs/postgres/src/database/transaction.ts',
  // Holds nothing that anybody waits for, at addresses that are not known to be good yet.
  'libs/postgres/src/database/database-probe.ts',
  // Refuses it.
  'libs/postgres/src/database/repositories.ts',
]);

const INDEX = /^libs\/[^/]+\/src\/index\.ts$/;
const EXPORT_BY_NAME = /^export\s+(?:type\s+)?\{[^{}]*\} from '[^']+';$/gm;

const files = FOLDERS.flatMap((folder) => filesUnder(join(ROOT, folder)));
const breaches = [
  ...files.flatMap((file) => [...nameBreaches(file), ...textBreaches(file)]),
  ...breachesOf(measureErrors(shippedSources()), measureErrors),
];
for (const breach of breaches) console.log(breach);
process.exit(breaches.length > 0 ? 1 : 0);

function filesUnder(folder) {
  return entriesOf(folder).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : [path];
  });
}

function entriesOf(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

function nameBreaches(file) {
  const path = relative(ROOT, file);
  const words = path.split(sep).flatMap((part) => part.replace(/\.[^/]*$/, '').split('.'));
  const empty = words.find((word) => EMPTY_NAMES.test(word));
  return empty ? [`${path}: "${empty}" names no concept`] : [];
}

function textBreaches(file) {
  if (!CODE.has(extname(file)) || basename(file) === 'house-rules.mjs') return [];
  const path = relative(ROOT, file);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const made = lines.slice(0, 5).some((line) => line.includes('@generated'));
  const long =
    !made && lines.length > linesAllowed(path)
      ? [`${path}: ${lines.length} lines, at most ${linesAllowed(path)} are allowed`]
      : [];
  const rest = INDEX.test(path) ? lines.join('\n').replace(EXPORT_BY_NAME, '').trim() : '';
  const more = rest === '' ? [] : [`${path}: an index has nothing but exports by name: ${rest.split('\n')[0]}`];
  const faultsOf = SERVING.test(path)
    ? (line) => [...forbiddenIn(line), ...textFaults(line), ...transactionsIn(path, line)]
    : forbiddenIn;
  return [
    ...long,
    ...more,
    ...lines.flatMap((line, index) => faultsOf(line).map((what) => `${path}:${index + 1}: ${what}`)),
  ];
}

function transactionsIn(path, line) {
  if (MAY_BEGIN.has(path) || !BEGINS_TRANSACTION.test(line)) return [];
  return ['a transaction that is not begun by inTransaction (libs/postgres)'];
}

function forbiddenIn(line) {
  return FORBIDDEN.filter(({ pattern }) => pattern.test(line)).map(({ what }) => what);
}

function linesAllowed(path) {
  return ONE_CONCEPT.has(path) ? MAX_LINES_OF_ONE_CONCEPT : MAX_LINES;
}
