import { type Moment, MOMENTS } from './event-gates.js';
import type { Whole } from './event-kills.js';

/** Place in a run at which its replica is killed. */
export interface Place {
  whole: Whole;
  sequence: number;
  moment: Moment;
}

/**
 * Returns all places of a run, or `most` of them, evenly spread: both moments of each event by turns.
 * @param chosen names of scenarios, events and moments, such as `whole`, `child:3` and `late:5:before`
 */
export function placesOf(whole: Whole, most: number, chosen?: readonly string[]): Place[] {
  const all = Array.from({ length: whole.events }, (_, index) => index + 1).flatMap((sequence) =>
    MOMENTS.map((moment) => ({ whole, sequence, moment })),
  );
  const there = all.filter(
    (place) =>
      // Nothing comes after the last one.
      (place.moment === 'after' || place.sequence < whole.events) &&
      (chosen === undefined || chosen.some((name) => isCalled(place, name))),
  );
  if (there.length <= most) return there;
  return Array.from({ length: most }, (_, index) => there[Math.floor(((index + 0.5) * there.length) / most)] as Place);
}

/** True if a name means this place, or a group to which it belongs. */
export function isCalled(place: Place, name: string): boolean {
  return `${nameOf(place)}:`.startsWith(`${name}:`);
}

/** Returns the name by which `placesOf` chooses a place. */
export function nameOf({ whole, sequence, moment }: Place): string {
  return `${whole.scenario.name}:${sequence}:${moment}`;
}
