import type { NodeTypes } from '#libs/agents';
import { expressionsIn, SharedUse } from '#libs/expressions';
import { isJsonObject, type JsonObject, nameHint, templateReferences, textStart } from '#libs/protocol';
import { WORKFLOW_NAME } from './node-schema.js';
import { findExpressionProblems } from './expression-problems.js';
import { buildGraphOrProblems, findBranchProblems, findEdgeProblems, runRuleProblems } from './graph-problems.js';
import { DEEPEST_RUN } from './named-workflows.js';
import { findConfigProblems, nodeRuleProblems } from './node-rules.js';
import { isOrdered, plainTexts, templateKey, templateProblems, templatesOf, valueKey } from './node-templates.js';
import { userInputNode } from './run-inputs.js';
import { inlineBody, readDefinition, unknownMembers } from './sent-definition.js';
import { PrecedenceIndex, type WorkflowGraph } from './workflow-graph.js';
import { errorProblem, warningProblem, type WorkflowProblem } from './workflow-problem.js';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';

/** Returns the warnings about a definition that has no errors. */
function workflowWarnings(
  definition: WorkflowDefinition,
  graph: WorkflowGraph,
  reach: PrecedenceIndex,
): WorkflowProblem[] {
  const nodes = [...definition.nodes.entries()];
  return [
    ...nodes.flatMap(([index, node]) => ignoredKeys(index, node, graph)),
    ...(definition.language === 2 || graph.isPlain
      ? []
      : nodes.flatMap(([index, node]) => unevaluatedTexts(index, node))),
    ...nodes.flatMap(([index, node]) => literalTemplates(index, node, graph)),
    ...(definition.language === 2 ? nodes.flatMap(([index, node]) => keywordIds(index, node)) : []),
    ...nodes.flatMap(([index, node]) => unconnectedNode(index, node, graph)),
    ...nodes.flatMap(([index, node]) => unaddressedNode(index, node, graph)),
    ...templateProblems(definition, graph, reach),
  ];
}

/** Config key that is allowed for all node types, in addition to the keys of each type. */
const COMMON_KEY = 'description';
/** Maximum number of warnings of one kind for one node. */
const MOST_KEYS = 10;

/**
 * Codes of the warnings about unknown keys. They are returned even beside errors: the unknown key may be a misspelling
 * of a key that an error reports as missing.
 */
const KEY_WARNINGS: ReadonlySet<string> = new Set(['UNKNOWN_KEY', 'UNKNOWN_CONFIG_KEY']);

/** Maximum number of unknown config keys in one definition that get a hint at a similar key. */
const MOST_HINTS = 20;

/** Returns a warning for each config key that the node's type does not know. */
function unknownConfigKeys({ nodes }: WorkflowDefinition, nodeTypes: NodeTypes): WorkflowProblem[] {
  let hints = MOST_HINTS;
  return nodes.flatMap(({ id, type, config }, index) => {
    const own = nodeTypes.configKeys(type);
    if (own === undefined) return [];
    const known = [...own, COMMON_KEY];
    const unknown = Object.keys(config).filter((key) => !known.includes(key));
    return unknown.slice(0, MOST_KEYS).map((key) => {
      const shown = textStart(key, 64);
      const hint = hints-- > 0 ? nameHint(key, known) : '';
      const detail = `${type} node "${id}": unknown config key "${shown}" (known: ${known.join(', ')})${hint}`;
      return warningProblem('UNKNOWN_CONFIG_KEY', `nodes[${index}].config.${shown}`, detail, { node: id });
    });
  });
}

/** Returns a warning for each member of a node that has no effect. */
function ignoredKeys(index: number, node: WorkflowNode, graph: WorkflowGraph): WorkflowProblem[] {
  const { id, type, config, timeout, each, onWait } = node;
  const said = `${type} node "${id}":`;
  const ignoredKey = (path: string, detail: string): WorkflowProblem[] => [
    warningProblem('IGNORED_KEY', `nodes[${index}].${path}`, `${said} ${detail}`, { node: id }),
  ];
  const { timeout: own } = config;
  return [
    ...(timeout !== undefined && own !== undefined && own !== null
      ? ignoredKey('config.timeout', 'config.timeout has no effect if the node has a timeout')
      : []),
    ...(timeout !== undefined && Object.hasOwn(UNTIMED_TYPES, type)
      ? ignoredKey('timeout', `timeout has no effect: ${UNTIMED_TYPES[type]}`)
      : []),
    ...(each?.minSuccess !== undefined && each.onFailure !== 'collect'
      ? ignoredKey('each.minSuccess', 'each.minSuccess has no effect without "onFailure": "collect"')
      : []),
    ...(onWait !== undefined && SILENT_TYPES.has(type)
      ? ignoredKey('onWait', 'onWait has no effect: the node never asks')
      : []),
    ...(onWait !== undefined && graph.exits.has(id)
      ? ignoredKey('onWait', 'onWait has no effect: nodes of onExit cannot ask')
      : []),
  ];
}

/**
 * Returns warnings about `${…}` in the templates of a definition without `"language": 2`. In such a definition,
 * expressions are not evaluated.
 */
function unevaluatedTexts(index: number, node: WorkflowNode): WorkflowProblem[] {
  const said = `${node.type} node "${node.id}":`;
  const found = templatesOf(node).filter(({ text }) => !expressionsIn(text).next().done);
  return found.slice(0, MOST_KEYS).map(({ path, text }) =>
    warningProblem(
      'NOT_EVALUATED',
      `nodes[${index}].${path}`,
      `${said} \${…} in ${path} is text without "language": 2`,
      {
        node: node.id,
        offset: text.indexOf('${'),
      },
    ),
  );
}

/**
 * Returns warnings about config texts that contain an expression or a reference although they are not templates. Only
 * the first expression or reference of each text is reported.
 */
function literalTemplates(index: number, node: WorkflowNode, graph: WorkflowGraph): WorkflowProblem[] {
  const { id, type } = node;
  return plainTexts(node).flatMap(({ path, text }) => {
    const isExpression = graph.definition.language === 2 && !expressionsIn(text).next().done;
    const reference = templateReferences(text).find((it) => graph.has(it.id) || graph.has(userInputNode(it.id) ?? ''));
    const found = [
      ...(isExpression ? [{ written: '${…}', offset: text.indexOf('${') }] : []),
      ...(reference ? [{ written: textStart(reference.written, 100), offset: reference.offset }] : []),
    ];
    const [first] = found.toSorted((one, other) => one.offset - other.offset);
    if (first === undefined) return [];
    const detail = `${type} node "${id}": ${first.written} in ${path} stays unchanged: it is not a template`;
    return [warningProblem('NOT_EVALUATED', `nodes[${index}].${path}`, detail, { node: id, offset: first.offset })];
  });
}

/** Keywords of CEL. A member with such a name cannot be selected by a dot. */
const KEYWORDS: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null']);

/**
 * Returns a warning if an `input` node has a CEL keyword as its id, so that expressions cannot read it as
 * `inputs.<id>`.
 */
function keywordIds(index: number, { id, type }: WorkflowNode): WorkflowProblem[] {
  if (type !== 'input' || !KEYWORDS.has(id)) return [];
  const detail = `input node "${id}": expressions name it inputs["${id}"]; inputs.${id} is a syntax error`;
  return [warningProblem('KEYWORD_ID', `nodes[${index}].id`, detail, { node: id })];
}

/** Node types that ignore `timeout`, each with the reason. */
const UNTIMED_TYPES: Readonly<Record<string, string>> = {
  set: 'it ends immediately',
  wait: 'its config sets the duration',
  human: 'waiting for an answer is limited by onWait.deadline instead',
};

/** Node types that never ask a question. */
const SILENT_TYPES: ReadonlySet<string> = new Set(['input', 'output', 'tool', 'set', 'wait']);

/** Returns a warning for a node without edges in a workflow with several nodes. */
function unconnectedNode(index: number, { id, type }: WorkflowNode, graph: WorkflowGraph): WorkflowProblem[] {
  const alone = graph.incoming(id).length === 0 && graph.outgoing(id).length === 0;
  if (!alone || graph.order.length === 1 || graph.exits.has(id)) return [];
  const detail = `${type} node "${id}" is connected to no other node`;
  return [warningProblem('UNCONNECTED', `nodes[${index}]`, detail, { node: id })];
}

/** Node types that need no text in their Message. */
const UNADDRESSED_TYPES: ReadonlySet<string> = new Set(['input', 'tool', 'set', 'wait']);

/**
 * Returns a warning for a node that is sent no content. In a workflow with `input` nodes, only these receive the
 * caller's text.
 */
function unaddressedNode(index: number, { id, type, config }: WorkflowNode, graph: WorkflowGraph): WorkflowProblem[] {
  if (UNADDRESSED_TYPES.has(type) || graph.incoming(id).length > 0 || !graph.hasInputs) return [];
  const text = config[templateKey(type)];
  if ((typeof text === 'string' && text !== '') || config[valueKey(type)] !== undefined) return [];
  if (graph.loops.some(({ to }) => to === id)) return [];
  const sent = isOrdered(type) ? `"Execute node ${id}"` : 'an empty text';
  const detail = `${type} node "${id}" has neither a ${templateKey(type)} nor a node before it: it is sent ${sent}`;
  return [warningProblem('NO_MESSAGE', `nodes[${index}]`, detail, { node: id })];
}

const NAME_RULE = 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen';

/** Maximum number of problems of one definition. */
const MOST_PROBLEMS = 100;

/**
 * Returns the problems of a definition, including its inline definitions: at most 100. Errors prevent a save. If there
 * are errors, the only warnings are warnings about unknown keys. Saved workflows that nodes name are not looked up;
 * `resolveNamedChildren` does that.
 */
export function workflowProblems(definition: WorkflowDefinition, nodeTypes: NodeTypes): WorkflowProblem[] {
  return new DefinitionCheck(nodeTypes, definition.name).findProblems(definition);
}

/**
 * Finds the problems of a definition and of its inline definitions. The expressions and schemas of all these
 * definitions count toward the same limits.
 */
class DefinitionCheck {
  private readonly use = new SharedUse();

  constructor(
    private readonly nodeTypes: NodeTypes,
    private readonly name: string,
  ) {}

  /**
   * Returns the problems of a definition.
   * @param depth number of definitions around this one; 0 for the whole workflow
   */
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
    const keys = unknownConfigKeys(definition, this.nodeTypes);
    const found = [...errors, ...inner.filter(({ severity }) => severity === 'error')];
    if (found.length > 0 || Array.isArray(graph) || reach === undefined) {
      const innerKeys = inner.filter(({ severity, code }) => severity === 'warning' && KEY_WARNINGS.has(code));
      return [...found, ...keys, ...innerKeys].slice(0, MOST_PROBLEMS);
    }
    return [...keys, ...workflowWarnings(definition, graph, reach), ...inner].slice(0, MOST_PROBLEMS);
  }

  /**
   * Returns the problems of a `workflow` node: the problems of its inline definition, or an error if the node names the
   * workflow that contains the node.
   */
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
      const detail = `${said} workflow "${this.name}" would run itself`;
      return [errorProblem('LOOP_DETECTED', `${path}.workflow`, detail, { node: id })];
    }
    const body = inlineBody(node, language);
    if (body === undefined) return [];
    if (depth === DEEPEST_RUN) {
      const detail = `${said} at most ${DEEPEST_RUN} runs can be nested below the first`;
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

/**
 * Returns problems with the names of the inputs that a node gives to a child workflow: unknown names, and required
 * inputs that are missing. Values are not checked.
 * @param given inputs from the config of the node, by name
 */
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
      return errorProblem(
        'UNKNOWN_INPUT',
        `inputs.${shown}`,
        `inputs.${shown} is not an input of the workflow that it runs`,
      );
    }),
    ...missing.map(({ id }) =>
      errorProblem('MISSING_INPUT', `inputs.${id}`, `inputs.${id} is required by the workflow that it runs`),
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
