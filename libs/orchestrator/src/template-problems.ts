import { templateReferences, textStart, unreadReferences } from '#libs/protocol';
import { templatesOf } from './node-templates.js';
import type { PrecedenceIndex } from './reach.js';
import { userInputNode } from './run-inputs.js';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';
import type { WorkflowGraph } from './workflow-graph.js';
import { warningProblem, type WorkflowProblem } from './workflow-problem.js';

/** Limit of the references that are checked in all texts together. */
const MOST_REFERENCES = 10_000;

/** Reference in a tool's arguments to the text of the call. */
const TOOL_TEXT = 'text';

const NO_REFERENCE =
  'between {{ and }} stand no spaces, and an id of letters, digits and underscores (language 2 has ${nodes["an-id"].text})';

/**
 * Returns problems of a definition's references: to unknown nodes, to nodes that may not have run by then, with an
 * unknown suffix, or malformed ones.
 */
export function templateProblems(
  { nodes }: WorkflowDefinition,
  graph: WorkflowGraph,
  reach: PrecedenceIndex,
): WorkflowProblem[] {
  const found = nodes.entries().flatMap(function* ([index, node]) {
    for (const { path, text } of templatesOf(node))
      yield* referenceProblems(node, { path: `nodes[${index}].${path}`, text }, graph, reach);
  });
  return found
    .take(MOST_REFERENCES)
    .filter((problem) => problem !== undefined)
    .toArray();
}

/** Yields the problem of each reference in a text of a node; `undefined` for a valid one. */
export function* referenceProblems(
  node: WorkflowNode,
  { path, text }: { path: string; text: string },
  graph: WorkflowGraph,
  reach: PrecedenceIndex,
): Generator<WorkflowProblem | undefined> {
  const inArgs = path.includes('].config.args');
  for (const reference of templateReferences(text)) {
    const found = describeReference(node, reference, graph, reach, inArgs);
    const place = { node: node.id, offset: reference.offset };
    yield found && warningProblem(found.code, path, found.detail, place);
  }
  for (const { id, written, offset } of unreadReferences(text)) {
    const detail = `${node.type} node "${node.id}": ${written} stays as it is written: ${NO_REFERENCE}`;
    yield graph.has(id) ? warningProblem('UNKNOWN_REFERENCE', path, detail, { node: node.id, offset }) : undefined;
  }
}

interface WrittenReference {
  id: string;
  suffix: readonly string[];
  written: string;
}

function describeReference(
  node: WorkflowNode,
  { id, suffix, written }: WrittenReference,
  graph: WorkflowGraph,
  reach: PrecedenceIndex,
  inArgs: boolean,
): Pick<WorkflowProblem, 'code' | 'detail'> | undefined {
  const said = `${node.type} node "${node.id}": ${textStart(written, 100)}`;
  const input = userInputNode(id);
  const named = input !== undefined && graph.has(input) ? input : id;
  if (!graph.has(named)) {
    if (inArgs && id === TOOL_TEXT) return undefined;
    return { code: 'UNKNOWN_REFERENCE', detail: `${said} names no node; it stays as it is written` };
  }
  // Inputs exist from the beginning.
  const isThere = input !== undefined || graph.node(named).type === 'input' || reach.runsAfter(node.id, named);
  if (!isThere)
    return { code: 'LATER_REFERENCE', detail: `${said} names a node that need not have run before this one` };
  const known = suffix.length === 0 || (suffix.length === 1 && suffix[0] === 'data');
  return known ? undefined : { code: 'UNKNOWN_SUFFIX', detail: `${said} stands for {{${id}}}: only .data is known` };
}
