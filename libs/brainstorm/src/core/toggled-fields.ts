import type { CanonicalState } from './canonical-state.js';
import { normalizeText } from './normalised.js';

/** Fields of a single value, which agents can keep changing back and forth. */
const FIELDS = ['idea', 'architecture'] as const;

/** Number of changes from which they count as toggling. */
const CHANGES = 3;

/**
 * Returns a question for each field that agents changed in three or more iterations and that returned to an earlier
 * value.
 * @param states merged states in order, beginning with the initial one
 */
export function toggledQuestions(states: readonly CanonicalState[]): string[] {
  return FIELDS.flatMap((field) => {
    const values = states.map((state) => normalizeText(state[field]));
    const changes = values.filter((value, index) => index > 0 && value !== values[index - 1]);
    const returned = values.some((value, index) => value !== values[index - 1] && values.indexOf(value) < index);
    const changedNow = values.length > 1 && values.at(-1) !== values.at(-2);
    if (!changedNow || changes.length < CHANGES || !returned) return [];
    return [`The agents keep changing "${field}" back and forth: what shall it be?`];
  });
}
