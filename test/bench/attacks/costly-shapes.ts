/** JSON document in pieces, which are sent one after the other. */
export type Document = Iterable<string | Buffer>;

const SLASHES = 120_000;
const LEVELS = 40_000;
const SKILLS = 2_500;
const MEMBERS = 49_000;
/** Maximum size of a card that the service shows, and of an answer. */
const CARD = 1_000_000;
const ANSWER = 15_000_000;
const DIGIT_GROUPS = 20_000;

/** Texts that take quadratic time if a regular expression starts again at each of their characters. */
const TEXTS = {
  slashes: `${'/'.repeat(SLASHES)}a`,
  dots: `${'.'.repeat(SLASHES)}a`,
  'replacement characters': `${'\ufffd'.repeat(SLASHES)}a`,
  'groups of slashes': '//a'.repeat(SLASHES / 3),
  blanks: `a${' '.repeat(SLASHES)}b`,
  placeholders: '${{{'.repeat(SLASHES / 4),
};

const quoted = (text: string): string => JSON.stringify(text);
const digits = (groups: number, each: number): string => `${'9'.repeat(each)} `.repeat(groups);
const deep = (inner: string): string => `${'['.repeat(LEVELS)}${inner}${']'.repeat(LEVELS)}`;
const deepObjects = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`;

/** Functions that create JSON values which are expensive to read, by the reason for that. */
const VALUES: Record<string, () => string> = {
  'groups of 299 digits': () => quoted(digits(DIGIT_GROUPS, 299)),
  'numbers of 308 digits': () => `[${Array.from({ length: DIGIT_GROUPS }, () => '9'.repeat(308)).join(',')}]`,
  'one number without end': () => '9'.repeat(ANSWER),
  'exponents of many digits': () => `[${Array.from({ length: 10 }, () => `1e${'0'.repeat(1_000_000)}1`).join(',')}]`,
  'deep lists': () => deep('1'),
  'deep objects': () => deepObjects,
  'a number that is none beside deep lists': () => `[${deep('')},1e999,${deep('')}]`,
  'a number that is none in deep lists': () => deep('1e999'),
  'empty lists': () => `[${Array.from({ length: MEMBERS }, () => '[]').join(',')}]`,
  'names without end': () => `{${Array.from({ length: MEMBERS }, (_, index) => `"${index}":{}`).join(',')}}`,
  ...Object.fromEntries(Object.entries(TEXTS).map(([name, text]) => [name, () => quoted(text)])),
};

/** Functions that create members of a card in place of the usual ones, by the reason why they are expensive. */
const CARDS: Record<string, (url: string) => Record<string, string>> = {
  'a URL of slashes': (url) => interfaces(`${url}/${TEXTS.slashes}`, 'JSONRPC'),
  'a URL of slashes over REST': (url) => interfaces(`${url}/${TEXTS.slashes}`, 'HTTP+JSON'),
  'a URL of groups of slashes': (url) => interfaces(`${url}/${TEXTS['groups of slashes']}`, 'JSONRPC'),
  'thousands of skills': () => ({ skills: `[${Array.from({ length: SKILLS }, skill).join(',')}]` }),
  'a description of digits': () => ({ description: quoted(digits(Math.floor(CARD / 300), 299)) }),
  'a number without end': () => ({ capabilities: `{"extensions":[{"uri":"x","params":{"n":${'9'.repeat(CARD)}}}]}` }),
  ...Object.fromEntries(
    Object.entries(TEXTS).map(([name, text]) => [`texts of ${name}`, () => textsOf(quoted(text))] as const),
  ),
  ...Object.fromEntries(
    ['deep lists', 'deep objects', 'a number that is none beside deep lists', 'empty lists'].map((name) => {
      const extensions = (): Record<string, string> => ({
        capabilities: `{"extensions":[{"uri":"x","params":{"value":${VALUES[name]!()}}}]}`,
      });
      return [name, extensions] as const;
    }),
  ),
};

const ENDLESS = 'a card without end';

export const COSTLY_CARDS: readonly string[] = [...Object.keys(CARDS), ENDLESS];
export const COSTLY_ANSWERS: readonly string[] = Object.keys(VALUES);

const made = new Map<string, Buffer>();

/** Returns the card at an index of `COSTLY_CARDS`, for an agent at a URL. */
export function costlyCard(place: number, url: string): Document {
  const name = COSTLY_CARDS[place] ?? '';
  if (name === ENDLESS) return endlessCard();
  return [once(`card ${name} ${url}`, () => cardText({ ...usualCard(url), ...CARDS[name]!(url) }))];
}

/** Returns a Message that answers a call, with the value at an index of `COSTLY_ANSWERS`. */
export function costlyAnswer(place: number, id: unknown): Document {
  const name = COSTLY_ANSWERS[place] ?? '';
  const value = once(`answer ${name}`, VALUES[name]!);
  const message = `"messageId":"${crypto.randomUUID()}","role":"ROLE_AGENT"`;
  const part = value.toString('latin1', 0, 1) === '"' ? 'text' : 'data';
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"message":{${message},"parts":[{"${part}":`;
  return [head, value, '}]}}}'];
}

/** Creates a document once and keeps it, since the attacker shares the processor with the service. */
function once(name: string, make: () => string): Buffer {
  let found = made.get(name);
  if (!found) made.set(name, (found = Buffer.from(make())));
  return found;
}

/** Returns the JSON text of a card with these members; each value is JSON text. */
function cardText(members: Record<string, string>): string {
  return `{${Object.entries(members)
    .map(([name, value]) => `"${name}":${value}`)
    .join(',')}}`;
}

function* endlessCard(): Generator<string> {
  yield '{"name":"peer","description":"';
  for (;;) yield 'x'.repeat(65_536);
}

function usualCard(url: string): Record<string, string> {
  const modes = '["text/plain"]';
  return {
    ...textsOf('"peer"'),
    ...{ version: '"1"', skills: '[]', capabilities: '{}', defaultInputModes: modes, defaultOutputModes: modes },
    ...interfaces(url, 'JSONRPC'),
  };
}

const textsOf = (text: string): Record<string, string> => ({ name: text, description: text });

function interfaces(url: string, protocolBinding: string): Record<string, string> {
  return { supportedInterfaces: JSON.stringify([{ url, protocolBinding, protocolVersion: '1.0' }]) };
}

function skill(_: unknown, index: number): string {
  const description = `Skill ${index}: ${'s'.repeat(300)}`;
  return JSON.stringify({ id: `skill-${index}`, name: `Skill ${index}`, description, tags: ['a', 'b', `t${index}`] });
}
