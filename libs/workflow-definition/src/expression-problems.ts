import {
  compileExpression,
  compileTemplate,
  expressionsIn,
  InvalidExpression,
  type Reference,
  SharedUse,
  type Vocabulary,
} from '#libs/expressions';
import {
  createVocabulary,
  ERROR_FIELDS,
  type ExpressionPlace,
  findExpressionPlace,
  joinMemberPath,
  listExpressionPlaces,
  NODE_FIELDS,
  RUN_FIELDS,
  type Surroundings,
} from './expression-places.js';
import { buildGraphOrProblems } from './graph-problems.js';
import { referenceProblems, textsIn } from './node-templates.js';
import { PrecedenceIndex, type WorkflowGraph } from './workflow-graph.js';
import { errorProblem, type WorkflowProblem } from './workflow-problem.js';
import type { WorkflowDefinition } from './workflow.js';

/**
 * Maximum number of expressions in a definition, including its inline workflows. They are counted before any is
 * compiled.
 */
const MOST_EXPRESSIONS = 1_000;
/** Maximum number of characters of all expressions in a definition together. */
const MOST_CHARACTERS = 64 * 1024;
/** Maximum number of problems that are returned. */
const MOST_PROBLEMS = 100;

/**
 * Returns the errors in the CEL expressions of a definition. If there are too many expressions, that is the only
 * problem, and no expression is compiled.
 * @param reach order of the nodes. If it is absent, because the graph is invalid, references to later nodes are not
 * reported
 * @param use counters of limits that all expressions of the workflow share
 */
export function findExpressionProblems(
  definition: WorkflowDefinition,
  reach: PrecedenceIndex | undefined,
  use: SharedUse,
): WorkflowProblem[] {
  const isRepeated = (id: string, other: string): boolean => reach?.isRepeated(id, other) ?? true;
  const places = listExpressionPlaces(definition, isRepeated);
  for (const place of places) {
    const beyond = countExpressions(place, use);
    if (beyond) return [beyond];
  }
  const ids = new Set(definition.nodes.map(({ id }) => id));
  const problems: WorkflowProblem[] = [];
  for (const place of places) {
    if (problems.length >= MOST_PROBLEMS) break;
    const vocabulary = createVocabulary(ids, place.surroundings);
    const found = findPlaceProblems(place, vocabulary, reach && createEarlierTest(reach, definition, place));
    problems.push(
      ...found.map((it) => ({ ...it, detail: `${describePlace(definition, place)}, at ${it.offset}: ${it.detail}` })),
    );
  }
  return problems;
}

/** Function that returns true if a node comes before the evaluation of an expression. */
type IsEarlier = (id: string) => boolean;

/** Creates the function that decides which nodes come before an expression of the definition. */
function createEarlierTest(
  reach: PrecedenceIndex,
  { edges }: WorkflowDefinition,
  { node, edge }: ExpressionPlace,
): IsEarlier {
  if (node !== undefined) return (id) => reach.runsAfter(node, id);
  if (edge === undefined) return () => false;
  return (id) => reach.decidesAfter(edges[edge]?.from ?? '', id);
}

function describePlace({ nodes, edges }: WorkflowDefinition, { node, edge, member }: ExpressionPlace): string {
  const { from, to } = edges[edge ?? -1] ?? {};
  if (edge !== undefined) return `edge from "${from}" to "${to}": ${member}`;
  if (node === undefined) return member;
  return `${nodes.find(({ id }) => id === node)?.type} node "${node}": ${member}`;
}

/** Returns the errors in the expression or template at a place. Their texts (`detail`) do not contain the place. */
function findPlaceProblems(
  { path, node, edge, member, content }: ExpressionPlace,
  vocabulary: Vocabulary,
  isEarlier?: IsEarlier,
): WorkflowProblem[] {
  const owner = { ...(node !== undefined && { node }), ...(edge !== undefined && { edge }) };
  const createPlaceProblem = (code: string, detail: string, offset: number, inner = ''): WorkflowProblem => {
    return errorProblem(code, path === '' ? inner : joinMemberPath(path, inner), detail, { ...owner, offset });
  };
  const read =
    'expression' in content
      ? compileExpression(content.expression, vocabulary)
      : compileTemplate(content.template, vocabulary);
  if (read instanceof InvalidExpression) return [createPlaceProblem('INVALID_EXPRESSION', read.message, read.offset)];
  if (Array.isArray(read))
    return read.map((it) => createPlaceProblem('INVALID_EXPRESSION', it.message, it.offset, it.path));
  if ('expression' in content && edge !== undefined && isWord(content.expression))
    return [
      createPlaceProblem('INVALID_EXPRESSION', `${member} must be true or false, and this expression never is`, 0),
    ];
  if (isEarlier === undefined) return [];
  const references: readonly (Reference & { path?: string })[] = read.references;
  return references
    .filter(({ variable, member: id }) => variable === 'nodes' && id !== undefined && !isEarlier(id))
    .map(({ member: id, offset, path: inner }) =>
      createPlaceProblem('LATER_REFERENCE', `nodes.${id} may not have run before this is evaluated`, offset, inner),
    );
}

/**
 * True for a single word other than `true` and `false`. A condition must not be such a text, because none of the
 * variables for edges is a boolean.
 */
function isWord(text: string): boolean {
  return /^\s*\w+\s*$/.test(text) && !/^\s*(true|false)\s*$/.test(text);
}

/**
 * Counts the expressions at a place without compiling them. Returns a problem if there are too many, or they are too
 * large.
 * @param use counts of the definition so far
 */
function countExpressions({ path, node, edge, content }: ExpressionPlace, use: SharedUse): WorkflowProblem | undefined {
  const texts = 'expression' in content ? [content.expression] : expressionsIn(content.template);
  for (const text of texts) {
    const count = use.add('expressions', 1);
    const characters = use.add('characters of expressions', text.length);
    if (count <= MOST_EXPRESSIONS && characters <= MOST_CHARACTERS) continue;
    const owner = { ...(node !== undefined && { node }), ...(edge !== undefined && { edge }) };
    const detail = `a definition has at most ${MOST_EXPRESSIONS} expressions of ${MOST_CHARACTERS} characters together; up to ${path} there are more`;
    return errorProblem('TOO_MANY_EXPRESSIONS', path, detail, owner);
  }
  return undefined;
}

/** Maximum number of problems that are returned. */
const MOST_PROBLEMS_AT_PLACE = 100;

/** Variable that an expression may use, for the completion of an editor. */
export interface ExpressionVariable {
  name: string;
  /** Members that may follow the name, such as the ids of nodes; absent if any name may follow. */
  members?: string[];
  /** Fields that may follow each member; absent if any name may follow. */
  fields?: string[];
}

/** Problems of an expression or a template, and the variables that it may use. */
export interface CheckedExpression {
  problems: WorkflowProblem[];
  variables: ExpressionVariable[];
}

/**
 * Checks an expression or a template as if it were at `path` in the definition, which may have other errors.
 * @param path path of the place, for example `edges[3].when`
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
  const isEarlier = reach && createEarlierTest(reach, definition, place);
  const ids = new Set(definition.nodes.map(({ id }) => id));
  const hasExpressions = 'expression' in content || definition.language === 2;
  const problems = [
    ...(hasExpressions ? problemsAt(place, ids, isEarlier) : []),
    ...(Array.isArray(graph) || !reach ? [] : checkReferences(place, graph, reach)),
  ];
  return {
    problems: problems.slice(0, MOST_PROBLEMS_AT_PLACE),
    variables: listVariables(place, definition, isEarlier),
  };
}

/**
 * Checks an expression or a template without a place in a definition: all variables are allowed, and no variables are
 * returned.
 * @param definition if given, `nodes` and `inputs` may only have the ids of its nodes
 */
export function checkAlone(content: ExpressionPlace['content'], definition?: WorkflowDefinition): CheckedExpression {
  const place: ExpressionPlace = { member: '', path: '', content, surroundings: ANYWHERE };
  const ids = definition ? new Set(definition.nodes.map(({ id }) => id)) : ANY_NAME;
  return { problems: problemsAt(place, ids).slice(0, MOST_PROBLEMS_AT_PLACE), variables: [] };
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

/** Returns the warnings about the `{{references}}` in the template at a place. */
function checkReferences(place: ExpressionPlace, graph: WorkflowGraph, reach: PrecedenceIndex): WorkflowProblem[] {
  const { content, node, path } = place;
  if ('expression' in content || node === undefined) return [];
  const owner = graph.node(node);
  const found = textsIn(content.template, path).flatMap((text) => [
    ...referenceProblems(owner, text, graph, reach).take(MOST_PROBLEMS_AT_PLACE),
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
