import { nameHint } from '#libs/protocol';
import { MEDIA_RANGE, MOST_MODES } from './definition-schema.js';
import { RANGES } from './node-schema.js';
import { InvalidWorkflow, WorkflowGraph } from './workflow-graph.js';
import { errorProblem, MemberProblems, type WorkflowProblem } from './workflow-problem.js';
import type { BudgetConfig, OutcomeFilter, WorkflowDefinition, WorkflowEdge } from './workflow.js';

/** Returns the errors in the members that apply to the whole run: `language`, `inputModes`, `deadline`,
 * `parallel`, `concurrency` and `budget`. */
export function runRuleProblems(definition: WorkflowDefinition): WorkflowProblem[] {
  const { language, deadline, parallel, inputModes, concurrency, budget } = definition;
  const found = new MemberProblems({ path: '', said: '' })
    .checkThat(language === undefined || [1, 2].includes(language), 'UNKNOWN_LANGUAGE', 'language', 'must be 1 or 2')
    .checkThat(inputModes === undefined || areModes(inputModes), 'INVALID_MODES', 'inputModes', MODES_RULE)
    .checkLimit('deadline', deadline)
    .checkWholeNumber('parallel', parallel, RANGES.parallel)
    .checkWholeNumber('concurrency.limit', concurrency?.limit, RANGES.concurrency).found;
  return [...found, ...(budget ? budgetProblems(budget) : [])];
}

/** Returns the errors in the `budget` of a definition, or of a request. */
export function budgetProblems({ usd, tokens }: BudgetConfig): WorkflowProblem[] {
  const isLimited = usd !== undefined || tokens !== undefined;
  return new MemberProblems({ path: '', said: '' })
    .checkThat(isLimited, 'EMPTY_BUDGET', 'budget', 'must have a limit: usd, tokens or both')
    .checkNumber('budget.usd', usd, RANGES.usd)
    .checkWholeNumber('budget.tokens', tokens, RANGES.tokens).found;
}

const MODES_RULE = `must be 1 to ${MOST_MODES} different media types such as text/plain or image/*`;

function areModes(modes: readonly string[]): boolean {
  if (modes.length === 0 || modes.length > MOST_MODES || new Set(modes).size < modes.length) return false;
  return modes.every((mode) => MEDIA_RANGE.test(mode));
}

/**
 * Returns the errors in `onExit`: each node must exist, be named once, have no edges, and not be of type `input`,
 * `output` or `human`.
 */
function exitProblems({ nodes, edges, onExit = [] }: WorkflowDefinition): WorkflowProblem[] {
  const types = new Map(nodes.map(({ id, type }) => [id, type]));
  const ends = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const seen = new Set<string>();
  return [...onExit.entries()].flatMap(([index, { node }]) => {
    const type = types.get(node) ?? '';
    const hint = types.has(node) || index >= MOST_HINTS ? '' : nameHint(node, types.keys());
    const problems = new MemberProblems({ path: `onExit[${index}]`, said: `onExit "${node}": `, node })
      .checkThat(types.has(node), 'UNKNOWN_NODE', 'node', `must name a node of the workflow${hint}`)
      .checkThat(!ends.has(node), 'INVALID_EXIT', 'node', 'names a node that an edge leads to or from')
      .checkThat(!seen.has(node), 'INVALID_EXIT', 'node', 'names the same node twice')
      .checkThat(!['input', 'output'].includes(type), 'INVALID_EXIT', 'node', `names a node of type ${type}`)
      .checkThat(
        type !== 'human',
        'INVALID_EXIT',
        'node',
        'names a node that asks, but after the end of a run no answer is accepted',
      );
    seen.add(node);
    return problems.found;
  });
}

/** Returns the errors in the settings of loop edges. */
export function findEdgeProblems({ edges }: WorkflowDefinition): WorkflowProblem[] {
  return [...edges.entries()].flatMap(([index, edge]) => {
    const { loop, when, on } = edge;
    if (loop === undefined) return [];
    const own = 'has no effect on a loop edge: loop.exit_when ends the loop';
    return createEdgeProblems(edge, index)
      .checkWholeNumber('loop.max_iterations', loop.max_iterations, RANGES.max_iterations)
      .checkPause('loop.delay', loop.delay)
      .checkThat(when === undefined, 'INVALID_LOOP', 'when', own)
      .checkThat(on === undefined, 'INVALID_LOOP', 'on', own).found;
  });
}

/**
 * Returns the errors in `join` and `branch`: a `join.n` that is not a whole number from 1 to the number of incoming
 * edges, and a second edge without `when` that leaves a node with `branch: "first"`.
 */
export function findBranchProblems(graph: WorkflowGraph): WorkflowProblem[] {
  return [...graph.definition.nodes.entries()].flatMap(([index, { id, type, branch, join }]) => {
    const problems = new MemberProblems({ path: `nodes[${index}]`, said: `${type} node "${id}": `, node: id });
    const most = graph.incoming(id).length;
    if (typeof join === 'object') {
      const isPossible = Number.isInteger(join.n) && join.n >= 1 && join.n <= most;
      const rule = `must be a whole number from 1 to ${most}, of how many edges lead to it`;
      problems.checkThat(
        isPossible,
        'INVALID_JOIN',
        'join.n',
        most === 0 ? 'counts edges, but no edge leads to the node' : rule,
      );
    }
    return [...problems.found, ...(branch === 'first' ? findElseProblems(graph, id) : [])];
  });
}

/**
 * Returns a problem if two outgoing edges without `when` are for the same outcome; at most one problem in all. With
 * `branch: "first"`, such an edge is taken if no condition holds, so there may be only one for each outcome.
 */
function findElseProblems(graph: WorkflowGraph, id: string): WorkflowProblem[] {
  const others = graph.outgoing(id).filter(({ edge }) => edge.when === undefined);
  const second = (['success', 'failure'] as const)
    .map((outcome) => others.filter(({ edge }) => isFor(edge, outcome))[1])
    .find((edge) => edge !== undefined);
  if (second === undefined) return [];
  const rule = `has no "when", and neither has another edge from "${id}": with branch "first" only one edge can be the else`;
  return createEdgeProblems(second.edge, second.index).checkThat(false, 'INVALID_BRANCH', 'when', rule).found;
}

function isFor({ on = 'success' }: WorkflowEdge, outcome: OutcomeFilter): boolean {
  return on === outcome || on === 'always';
}

function createEdgeProblems({ from, to }: WorkflowEdge, index: number): MemberProblems {
  return new MemberProblems({ path: `edges[${index}]`, said: `edge from "${from}" to "${to}": `, edge: index });
}

/** Builds the graph of a definition; returns its errors instead if it has any. */
export function buildGraphOrProblems(definition: WorkflowDefinition): WorkflowGraph | WorkflowProblem[] {
  const references = [
    ...duplicateProblems(definition),
    ...edgeProblems(definition),
    ...exitProblems(definition),
    ...loopCountProblems(definition),
  ];
  return references.length > 0 ? references : tryBuildGraph(definition);
}

function duplicateProblems({ nodes }: WorkflowDefinition): WorkflowProblem[] {
  const seen = new Set<string>();
  return [...nodes.entries()].flatMap(([index, { id }]) => {
    if (seen.has(id))
      return [
        errorProblem('DUPLICATE_NODE', `nodes[${index}].id`, prefixBuildFault(`duplicate node ID: ${id}`), {
          node: id,
        }),
      ];
    seen.add(id);
    return [];
  });
}

/** Maximum number of unknown node ids of one definition for which a similar id is searched. */
const MOST_HINTS = 10;

function edgeProblems({ nodes, edges }: WorkflowDefinition): WorkflowProblem[] {
  const ids = new Set(nodes.map((node) => node.id));
  let hints = MOST_HINTS;
  return [...edges.entries()].flatMap(([index, edge]) =>
    (['from', 'to'] as const)
      .filter((end) => !ids.has(edge[end]))
      .map((end) => {
        const hint = hints-- > 0 ? nameHint(edge[end], ids) : '';
        const detail = prefixBuildFault(`edge references unknown node: ${edge[end]}${hint}`);
        return errorProblem('UNKNOWN_NODE', `edges[${index}].${end}`, detail, { edge: index });
      }),
  );
}

/**
 * Checks the number of loops. There is a lower limit for loops than for other edges, because the nodes of each loop are
 * searched.
 */
function loopCountProblems({ edges }: WorkflowDefinition): WorkflowProblem[] {
  const [, most] = RANGES.loops;
  const beyond = edges.entries().filter(([, { loop }]) => loop !== undefined);
  const [found] = beyond.drop(most).next().value ?? [];
  if (found === undefined) return [];
  const detail = `a workflow has at most ${most} loop edges`;
  return [errorProblem('INVALID_LOOP', `edges[${found}]`, detail, { edge: found })];
}

function tryBuildGraph(definition: WorkflowDefinition): WorkflowGraph | WorkflowProblem[] {
  try {
    return WorkflowGraph.buildValid(definition);
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    const { code, edge } = error.fault;
    const place = edge === undefined ? {} : { edge };
    return [errorProblem(code, edge === undefined ? 'edges' : `edges[${edge}]`, error.message, place)];
  }
}

/** Prefixes the text of a graph's fault with `build DAG: `, as a run that meets this fault reports it. */
function prefixBuildFault(text: string): string {
  return `build DAG: ${text}`;
}
