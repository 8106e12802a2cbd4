import { type RunEventNote, templateReferences, textStart } from '#libs/protocol';
import { isEmptied, type MessageSource, standsForSomething } from './node-message.js';
import { templatesOf } from './node-templates.js';
import type { WorkflowNode } from './workflow.js';

/** Limit of warnings for one node. */
const MOST_WARNINGS = 10;
/** Limit of the references that are checked for one node. */
const MOST_REFERENCES = 1_000;

/** Reference in a tool's arguments to the text of the call. */
const TOOL_TEXT = '{{text}}';

const EMPTIED = 'stands for an empty text here: its node was skipped or canceled';

/** Returns warnings about references of a node that do not resolve as their author may expect, each of them once. */
export function templateWarnings(node: WorkflowNode, run: MessageSource): RunEventNote[] {
  const reported = new Map<string, string>();
  const seen = new Set<string>();
  let looked = 0;
  for (const { text } of templatesOf(node)) {
    for (const { id, suffix, written } of templateReferences(text)) {
      looked += 1;
      if (looked > MOST_REFERENCES || reported.size === MOST_WARNINGS) return warningNotes(node, reported);
      if (seen.has(written)) continue;
      seen.add(written);
      if (node.type === 'tool' && written === TOOL_TEXT) continue;
      if (!standsForSomething(run, id, suffix))
        reported.set(written, isEmptied(run, id) ? EMPTIED : 'stands for nothing here and stays as it is written');
      else if (suffix.length > 1 || (suffix.length === 1 && suffix[0] !== 'data'))
        reported.set(written, `stands for {{${id}}}: only .data is known`);
    }
  }
  return warningNotes(node, reported);
}

function warningNotes({ id, type }: WorkflowNode, reported: ReadonlyMap<string, string>): RunEventNote[] {
  return [...reported].map(([written, what]) => {
    const reference = textStart(written, 200);
    const payload = { reference, message: `${reference} ${what}` };
    return { type: 'template.warning', node_id: id, node_type: type, payload };
  });
}
