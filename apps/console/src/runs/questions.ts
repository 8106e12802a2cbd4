import type { RunQuestion } from './answer-form.js';
import { getInstanceName } from './causes.js';
import type { NodePicture } from './node-picture.js';

/** Returns the pending question of a node's instance, as AnswerForm needs it. */
export function questionOf(runId: string, node: NodePicture): RunQuestion {
  const { form, assignee, deadline, violations } = node.asks ?? {};
  return { runId, instance: getInstanceName(node), text: node.question ?? '', form, assignee, deadline, violations };
}
