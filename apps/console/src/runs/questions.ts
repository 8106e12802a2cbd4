import type { Question } from './answer-form.js';
import { nameOf } from './causes.js';
import type { NodePicture } from './node-picture.js';

/** Returns the pending question of an instance for its form. */
export function questionOf(runId: string, node: NodePicture): Question {
  const { form, assignee, deadline, violations } = node.asks ?? {};
  return { runId, instance: nameOf(node), text: node.question ?? '', form, assignee, deadline, violations };
}
