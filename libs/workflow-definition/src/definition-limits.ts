import { ProblemError } from '#libs/http-server';
import { hasMoreCharacters, isJsonObject, type JsonValue } from '#libs/protocol';
import { innerNodes } from './named-workflows.js';
import { errorProblem, type WorkflowProblem } from './workflow-problem.js';
import type { WorkflowDefinition } from './workflow.js';

/** Maximum number of bytes of one definition, as JSON in UTF-8. */
export const MOST_DEFINITION_BYTES = 256 * 1024;

/** Maximum number of bytes of one prompt, in UTF-8. */
export const MOST_PROMPT_BYTES = 64 * 1024;

/** Maximum number of bytes of one description, in UTF-8: cards and directories repeat it. */
export const MOST_DESCRIPTION_BYTES = 4 * 1024;

/** Maximum number of workflows that a tenant keeps at once; deleted ones do not count. */
export const MOST_WORKFLOWS = 2_000;

/** Maximum number of bytes of all newest definitions of a tenant. */
export const MOST_TENANT_BYTES = 16 * 1024 * 1024;

const PROMPTS = ['prompt', 'system_prompt'];

/** Returns the size limits that a definition exceeds. No further check is needed for such a definition. */
export function findSizeProblems(definition: WorkflowDefinition): WorkflowProblem[] {
  if (isTooLarge(definition)) {
    const detail = `a definition has at most ${MOST_DEFINITION_BYTES} bytes as JSON, and this one has more`;
    return [errorProblem('DEFINITION_TOO_LARGE', '', detail)];
  }
  return [
    ...checkTextLength('description', definition.description, MOST_DESCRIPTION_BYTES),
    ...definition.nodes.flatMap(({ id, config }, index) => findLongTexts(config, `nodes[${index}].config`, id)),
  ];
}

/** True if a definition exceeds its limit as JSON. Counts characters first: it takes long to serialize a large one. */
function isTooLarge(definition: WorkflowDefinition): boolean {
  if (hasMoreCharacters(definition, MOST_DEFINITION_BYTES)) return true;
  return Buffer.byteLength(JSON.stringify(definition)) > MOST_DEFINITION_BYTES;
}

/** Storage that a tenant uses for its other workflows, and bytes of the saved one; 0 if that is new. */
export interface HeldDefinitions {
  others: number;
  otherBytes: number;
  ownBytes: number;
}

/**
 * Rejects a save that exceeds the limits of the tenant. A save that does not enlarge a workflow is never rejected:
 * definitions from before the limits stay usable.
 * @throws ProblemError 422
 */
export function assertTenantHasRoom(bytes: number, { others, otherBytes, ownBytes }: HeldDefinitions): void {
  if (ownBytes === 0 && others >= MOST_WORKFLOWS) {
    throw createLimitProblem(
      `a tenant has at most ${MOST_WORKFLOWS} workflows, and this one has ${others}: delete one first`,
    );
  }
  if (bytes > ownBytes && otherBytes + bytes > MOST_TENANT_BYTES) {
    throw createLimitProblem(
      `the definitions of a tenant have at most ${MOST_TENANT_BYTES} bytes together, and these would have ` +
        `${otherBytes + bytes}: delete a workflow first`,
    );
  }
}

function createLimitProblem(detail: string): ProblemError {
  return new ProblemError(422, detail, [{ path: '', detail }], 'TOO_MANY_WORKFLOWS');
}

/** Checks the texts of a node, and of the nodes of its inline workflow. */
function findLongTexts(config: JsonValue | undefined, path: string, node: string): WorkflowProblem[] {
  if (!isJsonObject(config)) return [];
  const body = config['body'];
  const said = isJsonObject(body) ? body['description'] : undefined;
  return [
    ...PROMPTS.flatMap((name) => checkTextLength(`${path}.${name}`, config[name], MOST_PROMPT_BYTES, node)),
    ...checkTextLength(`${path}.description`, config['description'], MOST_DESCRIPTION_BYTES, node),
    ...checkTextLength(`${path}.body.description`, said, MOST_DESCRIPTION_BYTES, node),
    ...innerNodes(body).flatMap((inner, index) =>
      isJsonObject(inner) ? findLongTexts(inner['config'], `${path}.body.nodes[${index}].config`, node) : [],
    ),
  ];
}

function checkTextLength(path: string, text: JsonValue | undefined, most: number, node?: string): WorkflowProblem[] {
  if (typeof text !== 'string' || text.length * 3 <= most) return [];
  const bytes = Buffer.byteLength(text);
  if (bytes <= most) return [];
  const detail = `${path} has at most ${most} bytes, and this one has ${bytes}`;
  return [errorProblem('TEXT_TOO_LONG', path, detail, node === undefined ? {} : { node })];
}

/** Inclusive ranges of the numbers in a definition. */
export const RANGES = {
  attempts: [1, 100],
  factor: [1, 100],
  jitter: [0, 1],
  concurrency: [1, 1_000],
  maxItems: [1, 10_000],
  parallel: [1, 10_000],
  max_iterations: [1, 100],
  loops: [0, 100],
} as const;

/** Percentage from 0% to 100%. */
export const PERCENTAGE = /^(100(\.0+)?|\d{1,2}(\.\d+)?)%$/;
