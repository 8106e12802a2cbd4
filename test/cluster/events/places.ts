import { type Moment, MOMENTS } from './event-gates.js';
import type { Whole } from './event-kills.js';

/** Where a run's replica is killed. */
export interface Place {
  whole: Whole;
  sequence: number;
  moment: Moment;
}

/**
 * All places of a run, or `most` of them, spread evenly: both moments of each event by turns.
 * @param chosen names of scenarios, of events in them and of moments, such as `whole`, `child:3` and `late:5:before`
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

/** Whether it is this place, or one of those that are meant. */
export function isCalled(place: Place, name: string): boolean {
  return `${nameOf(place)}:`.startsWith(`${name}:`);
}

/** What `placesOf` chooses a place by. */
export function nameOf({ whole, sequence, moment }: Place): string {
  return `${whole.scenario.name}:${sequence}:${moment}`;
}
