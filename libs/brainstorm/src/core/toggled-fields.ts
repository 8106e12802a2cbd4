import type { CanonicalState } from './canonical-state.js';
import { normalised } from './normalised.js';

/** The fields of one value each, which agents can take turns in changing back. */
const FIELDS = ['idea', 'architecture'] as const;

/** So many changes are no longer a search. */
const CHANGES = 3;

/**
 * A question for each field that agents have changed in three iterations or more and that came back to a value which it
 * had before.
 * @param states the merged states in order, from the one before the first pass
 */
export function toggledQuestions(states: readonly CanonicalState[]): string[] {
  return FIELDS.flatMap((field) => {
    const values = states.map((state) => normalised(state[field]));
    const changes = values.filter((value, index) => index > 0 && value !== values[index - 1]);
    const returned = values.some((value, index) => value !== values[index - 1] && values.indexOf(value) < index);
    const changedNow = values.length > 1 && values.at(-1) !== values.at(-2);
    if (!changedNow || changes.length < CHANGES || !returned) return [];
    return [`The agents keep changing "${field}" back and forth: what shall it be?`];
  });
}
