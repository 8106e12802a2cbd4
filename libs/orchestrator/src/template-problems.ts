import { templateReferences } from '#libs/protocol';
import { Ancestors } from './ancestors.js';
import { templatesOf } from './node-templates.js';
import { userInputNode } from './run-inputs.js';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';
import type { WorkflowGraph } from './workflow-graph.js';
import { warning, type WorkflowProblem } from './workflow-problem.js';

/** As many references are looked at, in all texts together. */
const MOST_REFERENCES = 10_000;

/** Stands in a tool's arguments for the text that it is called with. */
const TOOL_TEXT = 'text';

/**
 * The references of a definition that will not stand for what their author may think: to nodes that there
 * are none of, or that may not have run by then, and with a suffix that means nothing.
 */
export function templateProblems({ nodes }: WorkflowDefinition, graph: WorkflowGraph): WorkflowProblem[] {
  const ancestors = new Ancestors(graph);
  const problems: WorkflowProblem[] = [];
  let looked = 0;
  for (const [index, node] of nodes.entries()) {
    for (const { path, text } of templatesOf(node)) {
      for (const reference of templateReferences(text)) {
        looked += 1;
        if (looked > MOST_REFERENCES) return problems;
        const found = problemOf(node, reference, graph, ancestors, path.startsWith('config.args'));
        const place = { node: node.id, offset: reference.offset };
        if (found) problems.push(warning(found.code, `nodes[${index}].${path}`, found.detail, place));
      }
    }
  }
  return problems;
}

interface Reference {
  id: string;
  suffix: readonly string[];
  written: string;
}

function problemOf(
  node: WorkflowNode,
  { id, suffix, written }: Reference,
  graph: WorkflowGraph,
  ancestors: Ancestors,
  inArgs: boolean,
): Pick<WorkflowProblem, 'code' | 'detail'> | undefined {
  const said = `${node.type} node "${node.id}": ${written.slice(0, 100)}`;
  const input = userInputNode(id);
  const named = input !== undefined && graph.has(input) ? input : id;
  if (!graph.has(named)) {
    if (inArgs && id === TOOL_TEXT) return undefined;
    return { code: 'UNKNOWN_REFERENCE', detail: `${said} names no node; it stays as it is written` };
  }
  // Inputs are there from the beginning.
  const isThere = input !== undefined || graph.node(named).type === 'input' || ancestors.has(node.id, named);
  if (!isThere)
    return { code: 'LATER_REFERENCE', detail: `${said} names a node that need not have run before this one` };
  const known = suffix.length === 0 || (suffix.length === 1 && suffix[0] === 'data');
  return known ? undefined : { code: 'UNKNOWN_SUFFIX', detail: `${said} stands for {{${id}}}: only .data is known` };
}
