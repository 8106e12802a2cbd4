import type { Command } from 'commander';
import type { Schemas } from '#libs/client';
import { briefText } from '#libs/protocol';
import { exampleText } from '../examples.js';
import { CommandError, EXIT } from '../exit-code.js';
import type { Session } from '../session.js';

type ListedRevision = Schemas['SavedRevision'];
type RunDiff = Schemas['RunDiffView'];

/** Difference of one member of two definitions or runs. `before` is absent if it was added, `after` if removed. */
interface MemberChange {
  path: string;
  before?: unknown;
  after?: unknown;
}

/** Maximum number of revisions that the service returns as one page. */
const LARGEST_PAGE = 100;
/** Maximum number of characters of a value in a comparison. */
const LONGEST_VALUE = 160;
const MARKS = { added: '+', removed: '-', changed: '~', moved: '>' } as const;
const COLORS = { added: 'green', removed: 'red', changed: 'yellow', moved: 'dim' } as const;

interface RevisionOptions {
  limit: string;
  diff?: string[];
  restore?: string;
}

/** Adds the commands `revisions` and `diff-runs`. */
export function addRevisionCommands(program: Command, session: Session): void {
  program
    .command('revisions')
    .argument('<workflow>', 'name of the workflow')
    .description('list, compare or restore the revisions of a workflow')
    .option('-n, --limit <number>', 'number of revisions, newest first', '20')
    .option('--diff <revision...>', 'show what this revision changed, or how the second one differs from the first')
    .option('--restore <revision>', 'save the definition of this revision as the newest one')
    .addHelpText(
      'after',
      exampleText(
        'parley revisions greeting',
        'parley revisions greeting --diff 7',
        'parley revisions greeting --diff 3 7',
        'parley revisions greeting --restore 3',
      ),
    )
    .action((name: string, options: RevisionOptions) => runRevisions(session, name, options));
  program
    .command('diff-runs')
    .argument('<run>', 'id of a run')
    .argument('[other]', 'id of the run that is compared with it; without, a rerun is compared with its original run')
    .description('show how two runs differ')
    .addHelpText('after', exampleText('parley diff-runs 019a… 019b…', 'parley diff-runs 019b… --json'))
    .action((run: string, other: string | undefined) => diffRuns(session, run, other));
}

async function runRevisions(session: Session, name: string, { limit, diff, restore }: RevisionOptions): Promise<void> {
  if (diff && restore !== undefined) throw new CommandError('--diff and --restore cannot be combined');
  if (restore !== undefined) await restoreRevision(session, name, restore);
  else if (diff) await diffRevisions(session, name, diff);
  else await listRevisions(session, name, limit);
}

function revisionsPath(name: string, revision?: string): `/${string}` {
  const path = `/api/workflows/${encodeURIComponent(name)}/revisions` as const;
  return revision === undefined ? path : `${path}/${encodeURIComponent(revision)}`;
}

async function listRevisions(session: Session, name: string, limit: string): Promise<void> {
  const { client, terminal, signal } = session;
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1)
    throw new CommandError(`--limit ${limit}: must be a whole number of at least 1`);
  const revisions: ListedRevision[] = [];
  for (let pageToken = ''; ;) {
    const query = { pageSize: Math.min(most - revisions.length, LARGEST_PAGE), pageToken };
    const page = await client.call<Schemas['RevisionPage']>(revisionsPath(name), { query, signal });
    revisions.push(...page.revisions);
    pageToken = page.nextPageToken;
    if (pageToken === '' || revisions.length >= most) break;
  }
  terminal.writeResult(revisions, () =>
    terminal.formatTable(
      ['REVISION', 'SAVED', 'AUTHOR', 'NOTE'],
      revisions.map((save, index) => [
        save.revision,
        save.savedAt.slice(0, 19).replace('T', ' '),
        terminal.stripControls(save.author ?? '-'),
        noteOn(save, revisions[index - 1]),
      ]),
    ),
  );
}

/**
 * Returns the remarks in a revision's row, such as `restores 3, last of a deleted workflow`; '' for none. A workflow
 * was deleted and created again between two revisions if their `createdAt` differ.
 * @param later the next newer revision; absent for the newest one
 */
function noteOn({ restoredFrom, createdAt }: ListedRevision, later: ListedRevision | undefined): string {
  const notes = [
    ...(restoredFrom === undefined ? [] : [`restores ${restoredFrom}`]),
    ...(later && later.createdAt !== createdAt ? ['last of a deleted workflow'] : []),
  ];
  return notes.join(', ');
}

async function restoreRevision(session: Session, name: string, revision: string): Promise<void> {
  const path = `${revisionsPath(name, revision)}/restore` as const;
  const saved = await session.client.call<Schemas['SavedWorkflowView']>(path, {
    method: 'POST',
    signal: session.signal,
  });
  session.terminal.writeResult(
    saved,
    () => `Saved revision ${saved.revision} of ${name}, equal to revision ${revision}.`,
  );
}

async function diffRevisions(session: Session, name: string, named: readonly string[]): Promise<void> {
  const [one = '', two, ...rest] = named;
  if (rest.length > 0) throw new CommandError('--diff takes one or two revisions');
  const path = `${revisionsPath(name, two ?? one)}/diff` as const;
  const query = two === undefined ? {} : { with: one };
  const diff = await session.client.call<Schemas['RevisionDiff']>(path, { query, signal: session.signal });
  const lines = describeDiff(session, diff);
  if (lines.length > 0) session.code = EXIT.differs;
  const title = `revision ${diff.before} → ${diff.after} of ${name}`;
  session.terminal.writeResult(diff, () =>
    lines.length === 0
      ? `No differences: ${title}.`
      : [`${session.terminal.paintText('bold', title)}`, ...lines].join('\n'),
  );
}

function describeDiff(session: Session, { fields, nodes, edges, truncated }: Schemas['RevisionDiff']): string[] {
  const { terminal } = session;
  const titleOf = (change: keyof typeof MARKS, what: string): string =>
    terminal.paintText(COLORS[change], `${MARKS[change]} ${what} ${change}`);
  return [
    ...describeFields(session, fields, ''),
    ...nodes.flatMap(({ id, type, change, fields: changed }) => [
      titleOf(change, `node ${id} (${terminal.stripControls(type)})`),
      ...describeFields(session, changed, '  '),
    ]),
    ...edges.flatMap(({ from, to, change, fields: changed }) => [
      titleOf(change, `edge ${from} → ${to}`),
      ...describeFields(session, changed, '  '),
    ]),
    ...(truncated ? ['… there are more differences'] : []),
  ];
}

function describeFields({ terminal }: Session, fields: readonly MemberChange[], indent: string): string[] {
  const valueText = (value: unknown): string => terminal.stripControls(briefText(JSON.stringify(value), LONGEST_VALUE));
  return fields.flatMap(({ path, before, after }) => [
    `${indent}${terminal.stripControls(path)}`,
    ...(before === undefined ? [] : [terminal.paintText('red', `${indent}  - ${valueText(before)}`)]),
    ...(after === undefined ? [] : [terminal.paintText('green', `${indent}  + ${valueText(after)}`)]),
  ]);
}

async function diffRuns(session: Session, run: string, other: string | undefined): Promise<void> {
  const { client, terminal, signal } = session;
  const path = `/api/runs/${encodeURIComponent(other ?? run)}/diff` as const;
  const query = other === undefined ? {} : { with: run };
  const diff = await client.call<RunDiff>(path, { query, signal });
  if (diff.differs.length > 0) session.code = EXIT.differs;
  terminal.writeResult(diff, () =>
    [
      ...describeRuns(session, diff),
      diff.differs.length === 0 ? 'No differences.' : `They differ in: ${diff.differs.join(', ')}.`,
      ...describeFields(
        session,
        diff.inputs.map((input) => ({ ...input, path: `input ${input.path}` })),
        '',
      ),
      ...diff.nodes.filter(({ differs }) => differs.length > 0).flatMap((node) => describeNode(session, node)),
      ...(diff.truncated ? ['… long values are cut'] : []),
    ].join('\n'),
  );
}

function describeRuns({ terminal }: Session, { before, after }: RunDiff): string[] {
  const rowOf = (title: string, text: (run: RunDiff['before']) => string): string[] => [
    title,
    terminal.stripControls(text(before)),
    terminal.stripControls(text(after)),
  ];
  return [
    terminal.formatTable(
      ['', 'BEFORE', 'AFTER'],
      [
        rowOf('run', ({ runId }) => runId),
        rowOf('workflow', ({ workflow }) => workflow),
        rowOf('revision', ({ revision }) => revision ?? '-'),
        rowOf('status', ({ status }) => status),
        rowOf('took', ({ durationMs }) => durationText(durationMs)),
        rowOf('error', ({ error }) => briefText(error ?? '-', LONGEST_VALUE)),
      ],
    ),
  ];
}

function durationText(durationMs: number | undefined): string {
  return durationMs === undefined ? '-' : `${durationMs} ms`;
}

function describeNode(session: Session, { id, differs, before, after }: RunDiff['nodes'][number]): string[] {
  const { terminal } = session;
  if (!before || !after) {
    const change = after ? 'added' : 'removed';
    return [
      terminal.paintText(
        COLORS[change],
        `${MARKS[change]} node ${id} is only in the run ${after ? 'after' : 'before'}`,
      ),
    ];
  }
  const fields = differs.map((part) => {
    const memberOf = (node: typeof before): unknown => node[part as keyof typeof before];
    return { path: part, before: memberOf(before), after: memberOf(after) } as MemberChange;
  });
  const took = `${durationText(before.durationMs)} → ${durationText(after.durationMs)}`;
  return [terminal.paintText('yellow', `~ node ${id} (${took})`), ...describeFields(session, fields, '  ')];
}
