import { grpcOrigin, isPre10Card } from '#libs/a2a-client';
import { isJsonObject, type JsonObject, type JsonValue, urlProblem } from '#libs/protocol';

/** Problem of a card (`error`), or a property that callers should know (`warning`). */
export interface CardProblem {
  level: 'error' | 'warning';
  /** Path of the member, for example `skills[0].id`; `''` for the whole card. */
  path: string;
  detail: string;
}

const MAX_PROBLEMS = 50;
const SPOKEN = /^(JSONRPC|HTTP\+JSON|GRPC)$/i;

/** A2A version of a card. `pre-1.0` is a dialect that is older than 1.0 and differs from 0.3 (see the glossary). */
export type CardVersion = '1.0' | '0.3' | 'pre-1.0';

/**
 * Returns the problems of a card of A2A 1.0 (section 4.4) or an older version, at most 50, for a person who may call
 * the agent.
 */
export function cardProblems(card: JsonObject, version: CardVersion): CardProblem[] {
  const problems = { '1.0': currentProblems, '0.3': legacyProblems, 'pre-1.0': pre10Problems }[version];
  return [...problems(card)].slice(0, MAX_PROBLEMS);
}

/** Returns the A2A version of a card. @param cardUrl URL that the card was read from */
export function cardVersion(cardUrl: string, card: JsonObject): CardVersion {
  if ('supportedInterfaces' in card || typeof card['url'] !== 'string') return '1.0';
  return isPre10Card(cardUrl, card) ? 'pre-1.0' : '0.3';
}

function* currentProblems(card: JsonObject): Generator<CardProblem> {
  yield* textProblems(card, '', ['name', 'description', 'version']);
  yield* interfaceProblems(card['supportedInterfaces']);
  yield* modeProblems(card);
  yield* capabilityProblems(card['capabilities']);
  yield* skillProblems(card['skills']);
  if ('provider' in card) yield* textProblems(card['provider'], 'provider', ['organization', 'url']);
  yield* securityProblems(card);
}

function* legacyProblems(card: JsonObject): Generator<CardProblem> {
  yield warningProblem('', 'is a card of A2A 0.3: the agent is called in that version');
  yield* textProblems(card, '', ['name', 'description', 'version', 'protocolVersion']);
  yield* urlProblems('url', card['url']);
  yield* modeProblems(card);
  yield* capabilityProblems(card['capabilities']);
  yield* skillProblems(card['skills']);
}

function* pre10Problems(card: JsonObject): Generator<CardProblem> {
  yield warningProblem(
    '',
    'is a card from before A2A 1.0: the agent takes texts and data, and cannot stream or cancel',
  );
  yield* textProblems(card, '', ['name', 'description']);
  yield* urlProblems('url', card['url']);
  yield* modeProblems(card);
}

function* interfaceProblems(value: JsonValue | undefined): Generator<CardProblem> {
  const path = 'supportedInterfaces';
  if (!isList(value)) return yield errorProblem(path, 'must be a list with at least one interface');
  for (const [place, item] of value.entries()) {
    yield* textProblems(item, `${path}[${place}]`, ['url', 'protocolBinding', 'protocolVersion']);
    const { url, protocolBinding } = isJsonObject(item) ? item : {};
    if (protocolBinding !== 'GRPC') yield* urlProblems(`${path}[${place}].url`, url);
    else if (typeof url === 'string') yield* grpcUrlProblems(`${path}[${place}].url`, url);
  }
  const bindings = value.map((it) => (isJsonObject(it) ? it['protocolBinding'] : undefined));
  if (!bindings.some((it) => typeof it === 'string' && SPOKEN.test(it))) {
    yield errorProblem(path, 'has none of JSONRPC, HTTP+JSON and GRPC, which are what this service speaks');
  }
}

function* urlProblems(path: string, url: JsonValue | undefined): Generator<CardProblem> {
  if (typeof url !== 'string') return;
  yield* refusedUrlProblems(path, url);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return yield errorProblem(path, 'must be an http(s) URL');
  if (new URL(url).protocol === 'http:') yield warningProblem(path, 'is not encrypted');
}

function* grpcUrlProblems(path: string, url: string): Generator<CardProblem> {
  yield* refusedUrlProblems(path, url);
  const origin = grpcOrigin(url);
  if (origin === undefined) return yield errorProblem(path, 'must be host:port, or an http(s) or grpc(s) URL');
  if (origin.protocol === 'http:') yield warningProblem(path, 'is not encrypted');
}

function* refusedUrlProblems(path: string, url: string): Generator<CardProblem> {
  const problem = urlProblem(url);
  if (problem !== undefined) yield errorProblem(path, problem);
}

function* modeProblems(card: JsonObject): Generator<CardProblem> {
  for (const name of ['defaultInputModes', 'defaultOutputModes']) {
    const value = card[name];
    if (!isList(value) || !value.every((it) => typeof it === 'string')) {
      yield errorProblem(name, 'must be a list with at least one media type');
    }
  }
}

function* capabilityProblems(value: JsonValue | undefined): Generator<CardProblem> {
  if (!isJsonObject(value)) return yield errorProblem('capabilities', 'must be an object');
  if (value['streaming'] !== true)
    yield warningProblem('capabilities.streaming', 'is off: progress is not seen, only the end');
  const extensions = Array.isArray(value['extensions']) ? value['extensions'] : [];
  for (const [place, item] of extensions.entries()) {
    if (isJsonObject(item) && item['required'] === true) {
      yield warningProblem(`capabilities.extensions[${place}]`, 'is an extension that callers must support');
    }
  }
}

function* skillProblems(value: JsonValue | undefined): Generator<CardProblem> {
  if (!isList(value)) return yield errorProblem('skills', 'must be a list with at least one skill');
  const seen = new Set<unknown>();
  for (const [place, skill] of value.entries()) {
    const path = `skills[${place}]`;
    yield* textProblems(skill, path, ['id', 'name', 'description']);
    if (!isJsonObject(skill)) continue;
    if (!isList(skill['tags'])) yield errorProblem(`${path}.tags`, 'must be a list with at least one tag');
    if (seen.has(skill['id'])) yield errorProblem(`${path}.id`, 'is the id of another skill too');
    seen.add(skill['id']);
  }
}

function* securityProblems(card: JsonObject): Generator<CardProblem> {
  const declared = isJsonObject(card['securitySchemes']) ? card['securitySchemes'] : {};
  const requirements = Array.isArray(card['securityRequirements']) ? card['securityRequirements'] : [];
  for (const [place, requirement] of requirements.entries()) {
    const schemes = isJsonObject(requirement) ? requirement['schemes'] : undefined;
    for (const name of isJsonObject(schemes) ? Object.keys(schemes) : []) {
      if (Object.hasOwn(declared, name)) continue;
      yield errorProblem(`securityRequirements[${place}]`, 'names a scheme that securitySchemes does not have');
    }
  }
}

/**
 * Yields an error for each of the members `names` that is missing or no string, and a warning for an empty one. Yields
 * only one error if the value is no object.
 */
function* textProblems(value: JsonValue | undefined, path: string, names: readonly string[]): Generator<CardProblem> {
  if (!isJsonObject(value)) return yield errorProblem(path, 'must be an object');
  for (const name of names) {
    const text = value[name];
    if (typeof text !== 'string') yield errorProblem(memberOf(path, name), 'is required');
    else if (text === '') yield warningProblem(memberOf(path, name), 'is empty');
  }
}

function memberOf(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isList(value: JsonValue | undefined): value is [JsonValue, ...JsonValue[]] {
  return Array.isArray(value) && value.length > 0;
}

function errorProblem(path: string, detail: string): CardProblem {
  return { level: 'error', path, detail };
}

function warningProblem(path: string, detail: string): CardProblem {
  return { level: 'warning', path, detail };
}
