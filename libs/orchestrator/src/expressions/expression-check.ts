import { SharedUse } from '#libs/expressions';
import { buildGraphOrProblems } from '../graph-problems.js';
import { textsIn } from '../node-templates.js';
import { PrecedenceIndex } from '../reach.js';
import { referenceProblems } from '../template-problems.js';
import type { WorkflowDefinition } from '../workflow.js';
import type { WorkflowGraph } from '../workflow-graph.js';
import type { WorkflowProblem } from '../workflow-problem.js';
import { type ExpressionPlace, findExpressionPlace } from './expression-places.js';
import { countExpressions, createEarlierTest, type IsEarlier, findPlaceProblems } from './expression-problems.js';
import { ERROR_FIELDS, NODE_FIELDS, RUN_FIELDS, type Surroundings, createVocabulary } from './vocabulary.js';

/** Maximum number of problems returned. */
const MOST_PROBLEMS = 100;

/** Name that an expression may use. */
export interface ExpressionVariable {
  name: string;
  /** Members that may follow the name; absent if any may. */
  members?: string[];
  /** Fields that may follow each member. */
  fields?: string[];
}

/** Problems of an expression or a template, and the names that it may use. */
export interface CheckedExpression {
  problems: WorkflowProblem[];
  variables: ExpressionVariable[];
}

/**
 * Checks an expression or a template at a place in a definition, which may have other errors.
 * @param path path of the place: `edges[3].when`
 * @returns `undefined` if the definition has no such node or edge
 */
export function checkInDefinition(
  content: ExpressionPlace['content'],
  definition: WorkflowDefinition,
  path: string,
): CheckedExpression | undefined {
  const graph = buildGraphOrProblems(definition);
  const reach = Array.isArray(graph) ? undefined : new PrecedenceIndex(graph);
  const place = findExpressionPlace(definition, path, content, (id, other) => reach?.isRepeated(id, other) ?? true);
  if (place === undefined) return undefined;
  const source = place.edge === undefined ? undefined : definition.edges[place.edge]?.from;
  const isEarlier = reach && createEarlierTest(reach, place.node, source);
  const ids = new Set(definition.nodes.map(({ id }) => id));
  const hasExpressions = 'expression' in content || definition.language === 2;
  const problems = [
    ...(hasExpressions ? problemsAt(place, ids, isEarlier) : []),
    ...(Array.isArray(graph) || !reach ? [] : checkReferences(place, graph, reach)),
  ];
  return { problems: problems.slice(0, MOST_PROBLEMS), variables: listVariables(place, definition, isEarlier) };
}

/** Checks an expression or a template that has no place in a definition. */
export function checkAlone(content: ExpressionPlace['content'], definition?: WorkflowDefinition): CheckedExpression {
  const place: ExpressionPlace = { member: '', path: '', content, surroundings: ANYWHERE };
  const ids = definition ? new Set(definition.nodes.map(({ id }) => id)) : ANY_NAME;
  return { problems: problemsAt(place, ids).slice(0, MOST_PROBLEMS), variables: [] };
}

const ANYWHERE: Surroundings = { item: true, iteration: true, error: true, now: true };
const ANY_NAME = { has: () => true };

function problemsAt(
  place: ExpressionPlace,
  ids: Pick<ReadonlySet<string>, 'has'>,
  isEarlier?: IsEarlier,
): WorkflowProblem[] {
  const beyond = countExpressions(place, new SharedUse());
  return beyond ? [beyond] : findPlaceProblems(place, createVocabulary(ids, place.surroundings), isEarlier);
}

/** Checks the `{{references}}` of a template. */
function checkReferences(place: ExpressionPlace, graph: WorkflowGraph, reach: PrecedenceIndex): WorkflowProblem[] {
  const { content, node, path } = place;
  if ('expression' in content || node === undefined) return [];
  const owner = graph.node(node);
  const found = textsIn(content.template, path).flatMap((text) => [
    ...referenceProblems(owner, text, graph, reach).take(MOST_PROBLEMS),
  ]);
  return found.filter((problem) => problem !== undefined);
}

function listVariables(
  { surroundings }: ExpressionPlace,
  { nodes }: WorkflowDefinition,
  isEarlier: IsEarlier = () => true,
): ExpressionVariable[] {
  const { item, iteration, error, now } = surroundings;
  const known = nodes.filter(({ id }) => isEarlier(id)).map(({ id }) => id);
  const inputs = nodes.filter(({ type }) => type === 'input').map(({ id }) => id);
  return [
    { name: 'inputs', members: inputs },
    { name: 'nodes', members: known, fields: [...NODE_FIELDS] },
    { name: 'run', members: [...RUN_FIELDS] },
    ...(item ? [{ name: 'item' }, { name: 'index' }] : []),
    ...(iteration ? [{ name: 'iteration' }] : []),
    ...(error ? [{ name: 'error', members: [...ERROR_FIELDS] }] : []),
    ...(now ? [{ name: 'now' }] : []),
  ];
}
