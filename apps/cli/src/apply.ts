import { ParleyError, type Schemas } from '#libs/client';
import { CommandError, EXIT } from './exit-code.js';
import type { Session } from './session.js';
import { plainDetail, sortByPlace } from './problem-lines.js';
import { memberInFile, objectKey, objectKind } from './object-kinds.js';
import { type DefinitionFile, type FolderContent, shownPlace } from './workflow-files.js';

export type Applied = Schemas['AppliedView'];

/** Outcome of `parley apply` for one workflow or one object. Only the outcome of an object has the member `kind`. */
type Outcome = Applied['workflows'][number] | NonNullable<Applied['objects']>[number];

/** Returns the outcomes whose action is not `unchanged`. */
export function changedOutcomes({ workflows, objects = [] }: Applied): Applied {
  return {
    workflows: workflows.filter(({ action }) => action !== 'unchanged'),
    objects: objects.filter(({ action }) => action !== 'unchanged'),
  };
}

/** Returns the outcomes as the command prints them with `--json`: without the member `objects` if there are none. */
export function plainOutcomes({ workflows, objects = [] }: Applied): object {
  return {
    workflows: workflows.map(({ name, action }) => ({ name, action })),
    ...(objects.length > 0 && { objects: objects.map(({ kind, name, action }) => ({ kind, name, action })) }),
  };
}

/**
 * Returns the revision of each workflow and object after `parley apply`. The keys are those of FolderState: the name of
 * a workflow, or `objectKey`. A deleted workflow or object has the value `undefined`.
 */
export function appliedRevisions({ workflows, objects = [] }: Applied): Map<string, string | undefined> {
  return new Map([
    ...workflows.map(({ name, revision }) => [name, revision] as const),
    ...objects.map(({ kind, name, revision }) => [objectKey(kind, name), revision] as const),
  ]);
}

/**
 * Returns one line for each outcome with the name and the action, followed by a line for each warning.
 * @param dryRun true if nothing was saved
 */
export function describeApplied(session: Session, { workflows, objects = [] }: Applied, dryRun = false): string {
  return [...objects, ...workflows]
    .map((it) => `${shownName(it)} ${actionText(session, it.action, dryRun)}${warningLines(it)}`)
    .join('\n');
}

function shownName(outcome: Outcome): string {
  return 'kind' in outcome ? `${outcome.kind} ${outcome.name}` : outcome.name;
}

function actionText({ terminal }: Session, action: string, dryRun: boolean): string {
  if (action === 'unchanged') return terminal.paintText('dim', 'unchanged');
  const colour = action === 'deleted' ? 'red' : 'green';
  return terminal.paintText(colour, dryRun ? `would be ${action}` : action);
}

function warningLines({ problems = [] }: Outcome): string {
  return problems.map(({ path, detail }) => `\n  ${path}: ${detail}`).join('');
}

const HOW_TO_ADOPT =
  'Compare with `parley diff`, take it with `parley export`, or replace it with `parley apply --adopt`. ' +
  'The file .parley/mark identifies the folder: commit it.';

/** Options for applying files. */
export interface FolderApplyOptions {
  dryRun?: boolean | undefined;
  prune?: boolean | undefined;
  force?: boolean | undefined;
  /**
   * True, the default: the service also replaces workflows and objects that were not last applied from this folder, for
   * example those saved in the console. False: it refuses the whole request if that would replace one of them. With
   * `force`, false has no effect.
   */
  adopt?: boolean | undefined;
  mark?: string;
  seen?: ReadonlyMap<string, string>;
}

/**
 * Applies all files in one request.
 * @throws CommandError that names each problem by file and line, if the service rejects workflows or objects;
 * ParleyError for any other error of the service
 */
export async function applyFiles(
  session: Session,
  content: FolderContent,
  options: FolderApplyOptions,
): Promise<Applied> {
  const { dryRun = false, prune, force, adopt, mark, seen } = options;
  const revisionOf = (key: string): { revision?: string } => {
    const revision = force ? undefined : seen?.get(key);
    return revision === undefined ? {} : { revision };
  };
  const workflows = content.workflows.map(({ definition }) => ({ definition, ...revisionOf(definition.name) }));
  const objects = content.objects.map(({ kind, name, definition }) => ({
    kind,
    definition: objectKind(kind)?.toRequest?.(definition) ?? definition,
    ...revisionOf(objectKey(kind, name)),
  }));
  const keepsOthers = adopt === false && !force;
  const body = {
    workflows,
    ...((objects.length > 0 || prune) && { objects }),
    ...(mark !== undefined && { mark }),
    ...(prune && { prune }),
    ...(keepsOthers && { adopt: false }),
  };
  try {
    return await session.client.call<Applied>('/api/apply', {
      method: 'POST',
      query: { dryRun },
      body,
      signal: session.signal,
    });
  } catch (error) {
    if (!(error instanceof ParleyError) || error.errors.length === 0) throw error;
    const keys = error.reason === 'INVALID_WORKFLOW' ? await findKeyWarnings(session, content, error) : [];
    throw toCommandError(error, content, keys);
  }
}

type CheckedProblem = Schemas['WorkflowProblems']['problems'][number];

/** Maximum number of refused workflows that `findKeyWarnings` searches for unknown keys, with one request for each. */
const MOST_CHECKED = 10;
/** Codes of warnings about unknown keys. A mistyped key may be the cause of another error. */
const KEY_WARNINGS: ReadonlySet<string> = new Set(['UNKNOWN_KEY', 'UNKNOWN_CONFIG_KEY']);

/** Returns the service's warnings about unknown keys in refused workflows, with paths in the apply request. */
async function findKeyWarnings(
  { client, signal }: Session,
  { workflows }: FolderContent,
  { errors }: ParleyError,
): Promise<ParleyError['errors'][number][]> {
  const refused = new Set(errors.flatMap(({ path }) => /^workflows\[(\d+)\]/.exec(path)?.[1] ?? []));
  const found = [...refused].slice(0, MOST_CHECKED).map(async (index) => {
    const body = workflows[Number(index)]?.definition;
    const checked = await client
      .call<{ problems: CheckedProblem[] }>('/api/workflows/check', { method: 'POST', body, signal })
      .catch(() => ({ problems: [] }));
    return checked.problems
      .filter(({ severity, code }) => severity === 'warning' && KEY_WARNINGS.has(code))
      .map((it) => ({ ...it, path: `workflows[${index}].definition.${it.path}`, detail: `warning: ${it.detail}` }));
  });
  return (await Promise.all(found)).flat();
}

/** Converts the service's refusal to an error that names each problem by file and line. */
function toCommandError(
  { status, reason, errors }: ParleyError,
  content: FolderContent,
  keys: ParleyError['errors'][number][],
): CommandError {
  const found = sortByPlace([...errors, ...keys].map((entry) => ({ ...entry, ...findSentPlace(content, entry.path) })));
  const lines = found.map(({ shown, detail }) => `${shown}: ${plainDetail(detail)}`);
  const message = [...lines, ...(reason === 'NOT_ADOPTED' ? [HOW_TO_ADOPT] : [])].join('\n');
  const code = status === 422 || status === 400 ? EXIT.differs : EXIT.failed;
  return new CommandError(message, code, { status, reason, errors: found.map(({ shown: _shown, ...entry }) => entry) });
}

/** Maps a path of the apply request, such as `workflows[2].definition.nodes[0].id`, to the file and the path in it. */
function findSentPlace(
  content: FolderContent,
  path: string,
): {
  shown: string;
  path: string;
  file?: string;
  line?: number;
} {
  const [, list, index, sent = ''] = /^(workflows|objects)\[(\d+)\](?:\.definition\.?)?(.*)$/.exec(path) ?? [];
  const object = list === 'objects' ? content.objects[Number(index)] : undefined;
  const file: DefinitionFile | undefined = list === 'workflows' ? content.workflows[Number(index)] : object;
  if (!file) return { shown: path, path };
  const member = object ? memberInFile(object.kind, sent) : sent;
  return { shown: shownPlace(file, member), file: file.path, ...file.locateMember(member), path: member };
}
