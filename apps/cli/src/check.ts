import { resolve } from 'node:path';
import type { NodeTypes } from '#libs/agents';
import { findKeyProblems } from '#libs/access';
import { BrainstormNode } from '#libs/brainstorm';
import { ConversationNode } from '#libs/conversations';
import { findCredentialProblems } from '#libs/credentials';
import { findLimitProblems } from '#libs/limits';
import { findMcpServerProblems } from '#libs/mcp-client';
import { findModelProblems } from '#libs/models';
import { describedNodeTypes, placeholderService } from '#libs/nodes';
import type { JsonObject } from '#libs/protocol';
import { findRegistrationProblems } from '#libs/registered-agents';
import { findScheduleProblems } from '#libs/schedules';
import { findTriggerProblems } from '#libs/triggers';
import { ConfigError } from '#libs/service';
import { problemsTogether, readDefinition, type WorkflowProblem, workflowSchema } from '#libs/workflow-definition';
import { ChildRunNode, findUnknownObjects } from '#libs/workflows';
import { type FolderOptions, folderVariables } from './environments.js';
import { CommandError, EXIT } from './exit-code.js';
import { memberInFile, objectKind } from './object-kinds.js';
import { plainDetail, sortByPlace } from './problem-lines.js';
import type { Session } from './session.js';
import {
  type DefinitionFile,
  describeWrongFile,
  type ObjectFile,
  scanFolder,
  shownPlace,
  type WrongFile,
} from './workflow-files.js';

/** Problem of a workflow, with the file that has it. */
interface FoundProblem extends WorkflowProblem {
  file: string;
  line?: number;
  column?: number;
}

/** Checks the workflows and objects of a folder and reports their problems, without a service. */
export async function checkFolder(session: Session, options: FolderOptions): Promise<void> {
  const { terminal } = session;
  const { folder } = options;
  const { workflows: files, objects, wrong: unreadable } = scanFolder(folder, folderVariables(session, options));
  const definitions = files.map(({ definition }) => definition);
  const own = await problemsTogether(definitions, await nodeTypes(terminal.env));
  const found = await Promise.all(
    own.map(async (it, index) => [...it, ...(await unknownObjects(definitions[index], it, objects))]),
  );
  const checked = [
    ...objects.map((file) => ({ file, problems: objectProblems(file) })),
    ...files.map((file, index) => ({ file, problems: found[index] ?? [] })),
  ];
  const problems = [
    ...unreadable.map(unreadableProblem),
    ...checked.flatMap(({ file, problems: own }) => sortByPlace(own.map((it) => inFile(file, it)))),
  ];
  const wrong = checked.filter(({ problems: own }) => own.some(({ severity }) => severity === 'error')).length;
  if (wrong + unreadable.length > 0) session.code = EXIT.differs;
  const lines = checked.flatMap(({ file, problems: own }) =>
    sortByPlace(own.map((it) => inFile(file, it))).map((it) => problemLine(file, it)),
  );
  const counts = {
    ...{ workflows: files.length, objects: objects.length, wrong },
    unreadable: new Set(unreadable.map(({ path }) => path)).size,
  };
  const listed = {
    workflows: files.map(({ path, definition: { name } }) => ({ name, file: path })),
    ...(objects.length > 0 && {
      objects: objects.map(({ path, kind, name }) => ({ kind, name, file: path })),
    }),
  };
  terminal.writeResult({ ...listed, problems }, () =>
    [...unreadable.map(describeWrongFile), ...lines, summarizeCheck(counts, folder)].join('\n'),
  );
}

/**
 * Returns warnings for models, MCP servers and registered agents that a workflow names and no file describes. Names of
 * a kind are only checked if at least one file describes an object of the kind; without a file, the objects are kept
 * elsewhere.
 */
async function unknownObjects(
  sent: unknown,
  problems: readonly WorkflowProblem[],
  objects: readonly ObjectFile[],
): Promise<WorkflowProblem[]> {
  const definition = readDefinition(sent);
  if (Array.isArray(definition) || problems.some(({ severity }) => severity === 'error')) return [];
  const lookupIn = (kind: string, ...built: string[]): ((name: string) => Promise<boolean>) | undefined => {
    const names = objects.filter((it) => it.kind === kind).map((it) => it.definition.name);
    return names.length === 0 ? undefined : async (name) => [...names, ...built].includes(name);
  };
  const [hasModel, hasServer, hasAgent] = [lookupIn('model', 'echo'), lookupIn('mcp-server'), lookupIn('agent')];
  const lookups = { ...(hasModel && { hasModel }), ...(hasServer && { hasServer }), ...(hasAgent && { hasAgent }) };
  return findUnknownObjects(
    definition,
    lookups,
    (object) => `no file describes the ${object}; only the service knows if it exists`,
  );
}

/** Returns the problems of an object (not a workflow) that can be found without a service. */
function objectProblems({ kind, definition }: ObjectFile): WorkflowProblem[] {
  const find = OBJECT_CHECKS[kind];
  const sent = objectKind(kind)?.toRequest?.(definition) ?? definition;
  const found = find?.(sent as JsonObject) ?? [];
  return found.map(({ path, detail }) => ({
    severity: 'error',
    code: 'INVALID_OBJECT',
    path: memberInFile(kind, path),
    detail,
  }));
}

/** Functions that return the problems of an object's definition, by the object's kind. */
const OBJECT_CHECKS: Readonly<Record<string, (definition: JsonObject) => { path: string; detail: string }[]>> = {
  credential: findCredentialProblems,
  model: findModelProblems,
  'mcp-server': findMcpServerProblems,
  agent: findRegistrationProblems,
  key: findKeyProblems,
  schedule: findScheduleProblems,
  trigger: findTriggerProblems,
  limit: findLimitProblems,
};

/** Prints the JSON Schema of workflows, as the service publishes it. */
export async function printSchema({ terminal }: Session): Promise<void> {
  terminal.writeLine(JSON.stringify(workflowSchema(await nodeTypes(terminal.env)), null, 2));
}

/**
 * Returns the node types that a service with these environment variables has: the built-in ones, and those of the
 * plugins in PARLEY_PLUGINS.
 */
async function nodeTypes({ PARLEY_PLUGINS = '' }: Session['terminal']['env']): Promise<NodeTypes> {
  const modules = PARLEY_PLUGINS.split(',').map((path) => path.trim());
  try {
    return await describedNodeTypes(
      modules.filter((path) => path !== '').map((path) => resolve(path)),
      new ConversationNode(placeholderService()),
      new BrainstormNode(placeholderService(), placeholderService()),
      new ChildRunNode(placeholderService(), placeholderService(), placeholderService()),
    );
  } catch (error) {
    throw error instanceof ConfigError ? new CommandError(error.message) : error;
  }
}

function inFile(file: DefinitionFile, problem: WorkflowProblem): FoundProblem {
  return { file: file.path, ...file.locateMember(problem.path), ...problem };
}

function problemLine(file: DefinitionFile, { severity, path, detail }: WorkflowProblem): string {
  return `${shownPlace(file, path)}: ${severity === 'warning' ? 'warning: ' : ''}${plainDetail(detail)}`;
}

function unreadableProblem({ path, place, detail }: WrongFile): FoundProblem {
  return { file: path, ...place, severity: 'error', code: 'UNREADABLE', path: '', detail };
}

interface CheckCounts {
  workflows: number;
  objects: number;
  /** Number of workflows and objects that cannot be saved. */
  wrong: number;
  /** Number of files that cannot be read as a workflow or an object. */
  unreadable: number;
}

function summarizeCheck({ workflows, objects, wrong, unreadable }: CheckCounts, folder: string): string {
  const files = `${countOf(unreadable, 'file')} cannot be read as a workflow.`;
  if (workflows + objects === 0) return unreadable > 0 ? files : `There are no workflows in ${folder}.`;
  const counted = [
    ...(workflows > 0 ? [countOf(workflows, 'workflow')] : []),
    ...(objects > 0 ? [countOf(objects, 'object')] : []),
  ];
  const checked = `${counted.join(' and ')} checked`;
  if (wrong + unreadable === 0) return `${checked}, no problems found.`;
  const said = wrong > 0 ? `${checked}, ${wrong} cannot be saved.` : `${checked}.`;
  return unreadable > 0 ? `${said} ${files}` : said;
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
