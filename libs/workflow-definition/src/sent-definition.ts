import { isJsonObject, type JsonObject, type JsonValue, nameHint, unfitMember } from '#libs/protocol';
import { DEFINITION, EDGE, EXIT, NOTE } from './definition-schema.js';
import { NODE } from './node-schema.js';
import {
  type ObjectShape,
  type ShapeFault,
  shapeFaults,
  storedObject,
  type UnknownMember,
  unknownMembersOf,
} from './shape.js';
import { errorProblem, warningProblem, type WorkflowProblem } from './workflow-problem.js';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';

/** Maximum number of malformed members that are reported. */
const MOST_FAULTS = 100;

/** Returns the malformed members of a definition (wrong type, or required and absent), at most 100. */
export function definitionFaults(sent: JsonObject): ShapeFault[] {
  return shapeFaults(DEFINITION, sent).take(MOST_FAULTS).toArray();
}

/** Returns the definition to store: without null and unknown members. `sent` must have no `definitionFaults`. */
export function storedDefinition(sent: JsonObject): WorkflowDefinition {
  return storedObject(DEFINITION, sent);
}

/** Reads a definition from a request body. Returns the definition, or `MALFORMED` problems if the body is malformed. */
export function readDefinition(sent: unknown): WorkflowDefinition | WorkflowProblem[] {
  const faults = findFaults(sent);
  if (faults.length === 0) return storedDefinition(sent as JsonObject);
  return faults.map(({ path, detail }) => errorProblem('MALFORMED', path, `${path} ${detail}`.trim()));
}

function findFaults(sent: unknown): ShapeFault[] {
  if (!isJsonObject(sent)) return [{ path: '', detail: 'the body must be a JSON object' }];
  const unfit = unfitMember(sent);
  return unfit ? [unfit] : definitionFaults(sent);
}

type Language = WorkflowDefinition['language'];

/**
 * Returns the inline definition (`config.body`) of a `workflow` node as it was sent; `undefined` if the node has none.
 * If the definition has no name, its name is the node id.
 * @param around language of the surrounding definition; used if the inline definition has none
 */
export function inlineBody({ id, type, config: { body } }: WorkflowNode, around?: Language): JsonObject | undefined {
  if (type !== 'workflow' || !isJsonObject(body)) return undefined;
  // An invalid language is reported once, at the surrounding definition.
  const language = body['language'] ?? (around === 1 || around === 2 ? around : undefined);
  return { name: id, ...body, ...(language !== undefined && { language }) };
}

/**
 * Parses the inline definition (`config.body`) of a `workflow` node. Returns `undefined` if the node names a saved
 * workflow instead, or the inline definition is malformed.
 * @param around language of the surrounding definition; used if the inline definition has none
 */
export function inlineDefinition(node: WorkflowNode, around?: Language): WorkflowDefinition | undefined {
  const body = inlineBody(node, around);
  const read = body && readDefinition(body);
  return Array.isArray(read) ? undefined : read;
}

/** Maximum number of unknown members in one definition that get a hint at a similar name. */
const MOST_HINTS = 20;

/** Returns warnings about unknown members. */
export function unknownMembers(sent: JsonObject): WorkflowProblem[] {
  const hints = { left: MOST_HINTS };
  const find = (shape: ObjectShape, value: JsonObject, at: string): WorkflowProblem[] =>
    unknownMembersOf(shape, value, at).map((it) => unknownMemberProblem(it, hints));
  return [
    ...find(DEFINITION, sent, ''),
    ...objectEntries(sent['onExit']).flatMap(([index, exit]) => find(EXIT, exit, `onExit[${index}].`)),
    ...objectEntries(sent['notes']).flatMap(([index, note]) => find(NOTE, note, `notes[${index}].`)),
    ...objectEntries(sent['nodes']).flatMap(([index, node]) => {
      const id = typeof node['id'] === 'string' ? { node: node['id'] } : {};
      return find(NODE, node, `nodes[${index}].`).map((it) => ({ ...it, ...id }));
    }),
    ...objectEntries(sent['edges']).flatMap(([edge, value]) =>
      find(EDGE, value, `edges[${edge}].`).map((it) => ({ ...it, edge })),
    ),
  ];
}

/**
 * Returns the problem of one unknown member.
 * @param hints number of members of the definition for which a similar name may still be searched; is decreased
 */
function unknownMemberProblem({ name, path, title, known }: UnknownMember, hints: { left: number }): WorkflowProblem {
  const hint = hints.left-- > 0 ? nameHint(name, known) : '';
  return warningProblem('UNKNOWN_KEY', path, `unknown key "${name}": ${title} has no such member${hint}`);
}

function objectEntries(values: JsonValue | undefined): [number, JsonObject][] {
  if (!Array.isArray(values)) return [];
  return values.flatMap((value, index): [number, JsonObject][] => (isJsonObject(value) ? [[index, value]] : []));
}
