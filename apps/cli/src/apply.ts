import { ParleyError, type Schemas } from '#libs/client';
import { CommandError, EXIT } from './exit-code.js';
import type { Session } from './session.js';
import { shownPlace, type WorkflowFile } from './workflow-files.js';

export type Applied = Schemas['AppliedView'];

/** Returns one line for each applied workflow: its name and the action. @param dryRun true if nothing was saved */
export function describeApplied(session: Session, workflows: Applied['workflows'], dryRun = false): string {
  return workflows.map((it) => `${it.name} ${actionText(session, it.action, dryRun)}${warningLines(it)}`).join('\n');
}

function actionText({ terminal }: Session, action: string, dryRun: boolean): string {
  if (action === 'unchanged') return terminal.paintText('dim', 'unchanged');
  const colour = action === 'deleted' ? 'red' : 'green';
  return terminal.paintText(colour, dryRun ? `would be ${action}` : action);
}

function warningLines({ problems = [] }: Applied['workflows'][number]): string {
  return problems.map(({ path, detail }) => `\n  ${path}: ${detail}`).join('');
}

const HOW_TO_ADOPT =
  'Compare with `parley diff`, take it with `parley export`, or replace it with `parley apply --adopt`. ' +
  'The file .parley/mark identifies the folder: commit it.';

/** Options for applying workflow files. */
export interface FolderApplyOptions {
  dryRun?: boolean | undefined;
  prune?: boolean | undefined;
  force?: boolean | undefined;
  /**
   * True, the default: also replaces workflows that were not last applied from this folder. False: the service refuses
   * the request if it would replace one. `force` has precedence.
   */
  adopt?: boolean | undefined;
  mark?: string;
  seen?: ReadonlyMap<string, string>;
}

/**
 * Applies all workflow files in one request. Problems that the service finds are reported by file and line.
 * @throws CommandError
 */
export async function applyFiles(
  session: Session,
  files: readonly WorkflowFile[],
  options: FolderApplyOptions,
): Promise<Applied> {
  const { dryRun = false, prune, force, adopt, mark, seen } = options;
  const workflows = files.map(({ definition }) => {
    const revision = force ? undefined : seen?.get(definition.name);
    return { definition, ...(revision !== undefined && { revision }) };
  });
  const keepsOthers = adopt === false && !force;
  const body = {
    workflows,
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
    throw toCommandError(error, files);
  }
}

/** Converts the service's refusal to an error that names each problem by file and line. */
function toCommandError({ status, reason, errors }: ParleyError, files: readonly WorkflowFile[]): CommandError {
  const found = errors.map((entry) => ({ ...entry, ...findSentPlace(files, entry.path) }));
  const lines = found.map(({ shown, detail }) => `${shown}: ${detail}`);
  const message = [...lines, ...(reason === 'NOT_ADOPTED' ? [HOW_TO_ADOPT] : [])].join('\n');
  const code = status === 422 || status === 400 ? EXIT.differs : EXIT.failed;
  return new CommandError(message, code, { status, reason, errors: found.map(({ shown: _shown, ...entry }) => entry) });
}

/** Maps a path of the apply request, such as `workflows[2].definition.nodes[0].id`, to the file and the path in it. */
function findSentPlace(files: readonly WorkflowFile[], path: string): { shown: string; path: string; file?: string } {
  const [, index, member = ''] = /^workflows\[(\d+)\](?:\.definition\.?)?(.*)$/.exec(path) ?? [];
  const file = files[Number(index)];
  if (!file) return { shown: path, path };
  return { shown: shownPlace(file, member), file: file.path, ...file.locateMember(member), path: member };
}
