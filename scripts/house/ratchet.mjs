/** Recorded values, which may only improve, and the places of breaches that are new since they were recorded. */
import { readFileSync, writeFileSync } from 'node:fs';
import { changedSince, lastCommitOf, textAt } from './history.mjs';
import { MEASURES } from './measures.mjs';
import { isShipped, isWritten } from './sources.mjs';

const FILE = new URL('recorded.json', import.meta.url);
const MOST_PLACES = 40;

/** Returns the recorded values by id, and the commit since which commit subjects are checked. */
export function recorded() {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}

/** Records the values that have improved, and worse ones that are accepted. @returns their ids */
export function record(measured, accepted = []) {
  const before = recorded();
  const changed = valuesToRecord(measured, before.values, accepted);
  const values = { ...before.values, ...changed };
  writeFileSync(FILE, `${JSON.stringify({ ...before, values }, undefined, 2)}\n`);
  return Object.keys(changed);
}

/**
 * Returns the values to record, by id: those that have improved, and those that are accepted.
 * @param accepted ids of measures whose growth has a reason, such as a feature
 */
export function valuesToRecord(measured, before, accepted) {
  const values = Object.keys(MEASURES).flatMap((id) => {
    const value = measured[id]?.value;
    const isRecorded = accepted.includes(id) ? value !== before[id] : !(value >= before[id]);
    return value !== undefined && isRecorded ? [[id, value]] : [];
  });
  return Object.fromEntries(values);
}

/**
 * Returns one line per measure that is worse than recorded, and one per place that is new.
 * @param measured values and places by id
 * @param measure measures sources, to compare with those of the commit that recorded last
 */
export function breachesOf(measured, measure) {
  const { values } = recorded();
  const worse = Object.keys(measured).filter((id) => measured[id].value > values[id]);
  if (worse.length === 0) return [];
  const commit = lastCommitOf('scripts/house/recorded.json');
  const changed = commit && changedSince(commit)?.filter(isShipped);
  const before = changed && measure(sourcesAt(commit, changed));
  return worse.flatMap((id) => {
    const places = before ? newPlaces(measured[id].places, before[id].places, changed) : measured[id].places;
    const more = places.length > MOST_PLACES ? [`… and ${places.length - MOST_PLACES} more`] : [];
    return [
      `${MEASURES[id].title}: ${measured[id].value}, recorded are ${values[id]}`,
      ...places.slice(0, MOST_PLACES).map(({ path, line, name }) => `  ${path}:${line}: ${name.slice(0, 80)}`),
      ...more,
    ];
  });
}

/** Returns the places in changed files that were not there before: not in that file, and not in one that lost them. */
export function newPlaces(now, before, changed) {
  const paths = new Set(changed);
  const left = Map.groupBy(before, ({ path, name }) => `${path} ${name}`);
  const inFile = now.filter(({ path, name }) => paths.has(path) && !left.get(`${path} ${name}`)?.pop());
  const moved = Map.groupBy([...left.values()].flat(), ({ name }) => name);
  return inFile.filter(({ name }) => !moved.get(name)?.pop());
}

function sourcesAt(commit, paths) {
  return paths.map((path) => ({ path, text: textAt(commit, path) ?? '' })).filter(isWritten);
}
