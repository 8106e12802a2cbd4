import { hasMoreCharacters, isJsonObject, type JsonValue } from '#libs/protocol';
import { innerNodes } from './named-workflows.js';
import { errorProblem, type WorkflowProblem } from './workflow-problem.js';
import type { WorkflowDefinition } from './workflow.js';

/** Maximum number of bytes of one definition, as JSON in UTF-8. */
export const MOST_DEFINITION_BYTES = 256 * 1024;

/** Maximum number of bytes of one `prompt` or `system_prompt`, in UTF-8. */
export const MOST_PROMPT_BYTES = 64 * 1024;

/**
 * Maximum number of bytes of one description of a workflow or node, in UTF-8. Agent cards and directories repeat it.
 */
export const MOST_DESCRIPTION_BYTES = 4 * 1024;

/** Maximum number of bytes of one note, in UTF-8. */
export const MOST_NOTE_BYTES = 4 * 1024;

const PROMPTS = ['prompt', 'system_prompt'];

/** Returns a problem for each size limit that a definition exceeds. If there is any, skip the other checks. */
export function findSizeProblems(definition: WorkflowDefinition): WorkflowProblem[] {
  if (isTooLarge(definition)) {
    const detail = `a definition has at most ${MOST_DEFINITION_BYTES} bytes as JSON, and this one has more`;
    return [errorProblem('DEFINITION_TOO_LARGE', '', detail)];
  }
  return [
    ...checkTextLength('description', definition.description, MOST_DESCRIPTION_BYTES),
    ...(definition.notes ?? []).flatMap(({ text }, index) =>
      checkTextLength(`notes[${index}].text`, text, MOST_NOTE_BYTES),
    ),
    ...definition.nodes.flatMap(({ id, config }, index) => findLongTexts(config, `nodes[${index}].config`, id)),
  ];
}

/**
 * True if a definition exceeds `MOST_DEFINITION_BYTES` as JSON. Counts characters first, because serializing a large
 * definition takes long.
 */
function isTooLarge(definition: WorkflowDefinition): boolean {
  if (hasMoreCharacters(definition, MOST_DEFINITION_BYTES)) return true;
  return Buffer.byteLength(JSON.stringify(definition)) > MOST_DEFINITION_BYTES;
}

/** Checks the lengths of the texts of a node and of its inline workflow. */
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
