import type { NodeTypes } from '#libs/executor';
import { SharedUse } from '#libs/expressions';
import { isJsonObject, type JsonObject, textStart } from '#libs/protocol';
import { findConfigProblems } from './config-problems.js';
import { findBranchProblems, findEdgeProblems } from './edge-rules.js';
import { findExpressionProblems } from './expressions/expression-problems.js';
import { buildGraphOrProblems } from './graph-problems.js';
import { nodeRuleProblems } from './node-rules.js';
import { PrecedenceIndex } from './reach.js';
import { DEEPEST_RUN } from './run-levels.js';
import { runRuleProblems } from './run-rules.js';
import { inlineBody, readDefinition } from './sent-definition.js';
import { unknownMembers } from './unknown-members.js';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';
import { errorProblem, type WorkflowProblem } from './workflow-problem.js';
import { workflowWarnings } from './workflow-warnings.js';

/** Valid names of workflows and ids of nodes. */
export const WORKFLOW_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

const NAME_RULE = 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen';

/** Limit of the problems in a response. */
const MOST_PROBLEMS = 100;

/**
 * Returns the problems of a definition, at most 100. Errors prevent a save; warnings are only searched for if there are
 * no errors.
 */
export function workflowProblems(definition: WorkflowDefinition, nodeTypes: NodeTypes): WorkflowProblem[] {
  return new DefinitionCheck(nodeTypes, definition.name).findProblems(definition);
}

/** Checks a definition and its inline definitions, which share the limits of expensive parts. */
class DefinitionCheck {
  private readonly use = new SharedUse();

  constructor(
    private readonly nodeTypes: NodeTypes,
    private readonly name: string,
  ) {}

  /** @param depth number of definitions around it */
  findProblems(definition: WorkflowDefinition, depth = 0): WorkflowProblem[] {
    const graph = buildGraphOrProblems(definition);
    const reach = Array.isArray(graph) ? undefined : new PrecedenceIndex(graph);
    const errors = [
      ...namingProblems(definition),
      ...(Array.isArray(graph) ? graph : findBranchProblems(graph)),
      ...findConfigProblems(definition, this.nodeTypes, this.use),
      ...runRuleProblems(definition),
      ...nodeRuleProblems(definition, this.use),
      ...findEdgeProblems(definition),
      ...findExpressionProblems(definition, reach, this.use),
    ];
    const inner = [...definition.nodes.entries()].flatMap(([index, node]) =>
      this.findChildProblems(index, node, definition.language, depth),
    );
    const found = [...errors, ...inner.filter(({ severity }) => severity === 'error')];
    if (found.length > 0 || Array.isArray(graph) || reach === undefined) return found.slice(0, MOST_PROBLEMS);
    return [...workflowWarnings(definition, graph, reach, this.nodeTypes), ...inner].slice(0, MOST_PROBLEMS);
  }

  /** Returns problems of the inline definition, or the reference, of a `workflow` node. */
  private findChildProblems(
    index: number,
    node: WorkflowNode,
    language: WorkflowDefinition['language'],
    depth: number,
  ): WorkflowProblem[] {
    const { id, type, config } = node;
    const path = `nodes[${index}].config`;
    const said = `${type} node "${id}":`;
    if (type === 'workflow' && config['workflow'] === this.name) {
      const detail = `${said} workflow "${this.name}" would run itself again`;
      return [errorProblem('LOOP_DETECTED', `${path}.workflow`, detail, { node: id })];
    }
    const body = inlineBody(node, language);
    if (body === undefined) return [];
    if (depth === DEEPEST_RUN) {
      const detail = `${said} at most ${DEEPEST_RUN} runs lie in each other below the first`;
      return [errorProblem('DEPTH_EXCEEDED', `${path}.body`, detail, { node: id })];
    }
    const read = readDefinition(body);
    const problems = Array.isArray(read) ? read : this.findProblems(read, depth + 1);
    const inner = [...problems, ...unknownMembers(body)].map((it) => ({
      severity: it.severity,
      code: it.code,
      detail: `${said} ${it.detail}`,
      path: it.path === '' ? `${path}.body` : `${path}.body.${it.path}`,
      node: id,
      ...(it.offset !== undefined && { offset: it.offset }),
    }));
    const given = config['inputs'];
    if (Array.isArray(read) || !isJsonObject(given)) return inner;
    const wrong = childInputProblems(read, given).map(({ code, path: member, detail }) =>
      errorProblem(code, `${path}.${member}`, `${said} ${detail}`, { node: id }),
    );
    return [...inner, ...wrong];
  }
}

/** Returns problems of inputs that a run would reject whatever their values are. */
export function childInputProblems(child: WorkflowDefinition, given: JsonObject): WorkflowProblem[] {
  const ids = new Set(child.nodes.map(({ id }) => id));
  const unknown = Object.keys(given).filter((name) => !ids.has(name));
  const missing = child.nodes.filter(
    ({ id, type, config }) =>
      type === 'input' && !Object.hasOwn(given, id) && config['default'] === undefined && config['optional'] !== true,
  );
  return [
    ...unknown.map((name) => {
      const shown = textStart(name, 64);
      return errorProblem('UNKNOWN_INPUT', `inputs.${shown}`, `inputs.${shown} is no input of what it runs`);
    }),
    ...missing.map(({ id }) =>
      errorProblem('MISSING_INPUT', `inputs.${id}`, `inputs.${id} is required by what it runs`),
    ),
  ];
}

function namingProblems({ name, nodes }: WorkflowDefinition): WorkflowProblem[] {
  const problems: WorkflowProblem[] = [];
  if (!WORKFLOW_NAME.test(name)) problems.push(errorProblem('INVALID_NAME', 'name', `name ${NAME_RULE}`));
  if (nodes.length === 0) problems.push(errorProblem('NO_NODES', 'nodes', 'a workflow needs at least one node'));
  for (const [index, { id }] of nodes.entries()) {
    if (!WORKFLOW_NAME.test(id))
      problems.push(errorProblem('INVALID_NAME', `nodes[${index}].id`, `node id ${NAME_RULE}`));
  }
  return problems;
}
