import type { JsonObject, JsonValue } from '#libs/protocol';
import type { SeededRandom } from '../../support/seeded-random.js';
import { oddText, oddValue } from './odd-values.js';

/** Returns a copy of the value with one random fault. */
export function mutatedJson(value: JsonValue, random: SeededRandom): JsonValue {
  const places = placesIn(value);
  const place = random.pick(places);
  if (place.length === 0) return changed(value, random);
  const copy = structuredClone(value);
  const parent = at(copy, place.slice(0, -1)) as JsonObject;
  const key = place.at(-1) as string;
  changeMember(parent, key, random);
  return copy;
}

type Place = (string | number)[];

function placesIn(value: JsonValue, here: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [here];
  return [here, ...Object.entries(value).flatMap(([key, member]) => placesIn(member as JsonValue, [...here, key]))];
}

function at(value: JsonValue, place: Place): JsonValue {
  return place.reduce<JsonValue>((it, key) => (it as JsonObject)[key] as JsonValue, value);
}

function changeMember(parent: JsonObject | JsonValue[], key: string, random: SeededRandom): void {
  const object = parent as JsonObject;
  const value = object[key] as JsonValue;
  switch (random.between(0, 6)) {
    case 0:
      return Array.isArray(parent) ? void parent.splice(Number(key), 1) : void delete object[key];
    case 1:
      return void (object[Array.isArray(parent) ? String(parent.length) : oddText(random).slice(0, 100)] = value);
    case 2:
      return void (object[key] = [value]);
    case 3:
      return void (object[key] = { [key]: value });
    case 4:
      return void (object[key] = changed(value, random));
    default:
      return void (object[key] = oddValue(random));
  }
}

/** Returns another value of the same type. */
function changed(value: JsonValue, random: SeededRandom): JsonValue {
  if (typeof value === 'string') return changedText(value, random);
  if (typeof value === 'number') return random.pick([-value, value + 1, value * 1e9, value / 3, 0]);
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return random.pick([[], [...value, ...value], value.toReversed(), [value]]);
  return oddValue(random);
}

/** Returns a text with something added, removed or replaced. */
function changedText(text: string, random: SeededRandom): string {
  const cut = random.between(0, text.length);
  switch (random.between(0, 4)) {
    case 0:
      return text.slice(0, cut);
    case 1:
      return `${text.slice(0, cut)}${oddText(random).slice(0, 300)}${text.slice(cut)}`;
    case 2:
      return text.repeat(random.between(2, 20)).slice(0, 20_000);
    case 3:
      return random.between(0, 1) ? text.toUpperCase() : text.toLowerCase();
    default:
      return oddText(random);
  }
}
