import { resolve } from 'node:path';
import type { NodeTypes } from '#libs/agents';
import { BrainstormNode } from '#libs/brainstorm';
import { ConversationNode } from '#libs/conversations';
import { describedNodeTypes, placeholderService } from '#libs/nodes';
import { ConfigError } from '#libs/service';
import { problemsTogether, type WorkflowProblem, workflowSchema } from '#libs/workflow-definition';
import { ChildRunNode } from '#libs/workflows';
import { CommandError, EXIT } from './exit-code.js';
import type { Session } from './session.js';
import {
  describeWrongFile,
  scanWorkflowFiles,
  shownPlace,
  type WorkflowFile,
  type WrongFile,
} from './workflow-files.js';

/** Problem of a workflow, with the file that has it. */
interface FoundProblem extends WorkflowProblem {
  file: string;
  line?: number;
  column?: number;
}

/** Checks the workflows of a folder and reports their problems, without a service. */
export async function checkFolder(session: Session, { folder }: { folder: string }): Promise<void> {
  const { terminal } = session;
  const { files, wrong: unreadable } = scanWorkflowFiles(folder, terminal.env);
  const definitions = files.map(({ definition }) => definition);
  const found = await problemsTogether(definitions, await nodeTypes(terminal.env));
  const problems = [
    ...unreadable.map(unreadableProblem),
    ...files.flatMap((file, index) => (found[index] ?? []).map((it) => inFile(file, it))),
  ];
  const wrong = files.filter((_, index) => found[index]?.some(({ severity }) => severity === 'error')).length;
  if (wrong + unreadable.length > 0) session.code = EXIT.differs;
  const lines = files.flatMap((file, index) => (found[index] ?? []).map((it) => problemLine(file, it)));
  const counts = { checked: files.length, wrong, unreadable: new Set(unreadable.map(({ path }) => path)).size };
  terminal.writeResult(
    { workflows: files.map(({ path, definition: { name } }) => ({ name, file: path })), problems },
    () => [...unreadable.map(describeWrongFile), ...lines, summarizeCheck(counts, folder)].join('\n'),
  );
}

/** Prints the JSON Schema of workflows, as the service publishes it. */
export async function printSchema({ terminal }: Session): Promise<void> {
  terminal.writeLine(JSON.stringify(workflowSchema(await nodeTypes(terminal.env)), null, 2));
}

/** Returns the node types of a service in this environment, those of plugins included. */
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

function inFile(file: WorkflowFile, problem: WorkflowProblem): FoundProblem {
  return { file: file.path, ...file.locateMember(problem.path), ...problem };
}

function problemLine(file: WorkflowFile, { severity, path, detail }: WorkflowProblem): string {
  return `${shownPlace(file, path)}: ${severity === 'warning' ? 'warning: ' : ''}${detail}`;
}

function unreadableProblem({ path, place, detail }: WrongFile): FoundProblem {
  return { file: path, ...place, severity: 'error', code: 'UNREADABLE', path: '', detail };
}

function summarizeCheck(count: { checked: number; wrong: number; unreadable: number }, folder: string): string {
  const files = `${count.unreadable} ${count.unreadable === 1 ? 'file' : 'files'} cannot be read as a workflow.`;
  if (count.checked === 0) return count.unreadable > 0 ? files : `There are no workflows in ${folder}.`;
  const checked = `${count.checked} ${count.checked === 1 ? 'workflow' : 'workflows'} checked`;
  if (count.wrong + count.unreadable === 0) return `${checked}, no problems found.`;
  const said = count.wrong > 0 ? `${checked}, ${count.wrong} cannot be saved.` : `${checked}.`;
  return count.unreadable > 0 ? `${said} ${files}` : said;
}
