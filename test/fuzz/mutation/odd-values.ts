import type { JsonValue } from '#libs/protocol';
import type { SeededRandom } from '../../support/seeded-random.js';

/** Prefix of strings that stand for JSON text which no JavaScript value produces (see textOf). */
const RAW = '@@raw:';

const RAW_TEXTS: Readonly<Record<string, string>> = {
  infinite: '1e400',
  precise: '0.1000000000000000055511151231257827',
  long: '9'.repeat(400),
  negative: '-9223372036854775809',
  deep: `${'['.repeat(3000)}${']'.repeat(3000)}`,
  deepObject: `${'{"a":'.repeat(150)}1${'}'.repeat(150)}`,
  surrogate: '"\\ud800"',
  twice: '{"id":1,"id":2}',
  proto: '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
};

/** JSON texts of the maximum size of a body that consist of very many small parts. */
const FLOODS: Readonly<Record<string, string>> = {
  members: `{${many(16_000, (index) => `"k${index}":0`)}}`,
  items: `[${many(90_000, () => '0')}]`,
  objects: `[${many(60_000, () => '{}')}]`,
  texts: `[${many(12_000, () => '{"text":"x"}')}]`,
  data: `[${many(1_000, (index) => `{"data":{"k${index}":[1,{"deep":[null,true]}],"text":"${'x'.repeat(100)}"}}`)}]`,
  calls: `[${many(3_000, () => '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}')}]`,
  nodes: `[${many(3_000, (index) => `{"id":"n${index}","type":"agent"}`)}]`,
  rules: `[${many(2_000, (index) => `{"when":{"text":"a{1,${(index % 900) + 1}}b"},"steps":[{"echo":true}]}`)}]`,
  text: `"${'y'.repeat(200_000)}"`,
  conditions: `[${many(1_000, () => '{"from":"in","to":"out","when":"[1].all(x, [2].all(y, x < y))"}')}]`,
  loops: `[${many(3_000, () => '{"from":"out","to":"in","loop":{"max_iterations":100}}')}]`,
  expressions: `"${'${[1].map(x,x)}'.repeat(10_000)}"`,
};
const RAW_TEXTS_AND_FLOODS: Readonly<Record<string, string>> = { ...RAW_TEXTS, ...FLOODS };

function many(count: number, item: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(',');
}

const TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\uffff',
  '💥'.repeat(50),
  '\u202eabc',
  'x'.repeat(20_000),
  '../../etc/passwd',
  '%00',
  '%2e%2e%2f',
  "'; DROP TABLE task; --",
  '{{in}}{{constructor}}{{__proto__}}',
  '(a+)+$',
  '${',
  "${'${'} ${1 +",
  '('.repeat(2_000),
  `[${'[],'.repeat(600)}]`,
  "'a'.matches('((a{1,100}){1,100}){1,10}')",
  '[1, 2].map(x, [1, 2].map(y, [3].map(z, x * y * z)))',
  '1s',
  '99999999999999999999d',
  'null',
  '__proto__',
  'constructor',
  '1e309',
  '-1',
  '2026-02-30T25:61:61Z',
  '9999999999-01-01T00:00:00Z',
  'TASK_STATE_',
  'http://127.0.0.1:1/',
  'http://[::ffff:169.254.169.254]/',
  'javascript:alert(1)',
  'data:text/plain,x',
  'application/\r\nx: y',
  '=?base64',
];

const VALUES: JsonValue[] = [
  null,
  true,
  false,
  0,
  -1,
  0.5,
  -0,
  2 ** 31,
  2 ** 53,
  1e308,
  [],
  {},
  [null],
  [[]],
  { a: { b: { c: [] } } },
  ...TEXTS,
  ...Object.keys(RAW_TEXTS).map((name) => `${RAW}${name}`),
];

/** Returns a value that exposes careless parsing. */
export function oddValue(random: SeededRandom): JsonValue {
  const kind = random.between(0, 19);
  if (kind === 0) return Array.from({ length: 2000 }, (_, index) => index);
  if (kind === 1) return Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index]));
  if (kind === 2) return random.between(-1000, 1000);
  // Dear to read: enough of them where there are many cases.
  if (kind === 3 && random.between(0, 39) === 0) return `${RAW}${random.pick(Object.keys(FLOODS))}`;
  return random.pick(VALUES);
}

export function oddText(random: SeededRandom): string {
  return random.pick(TEXTS);
}

/** Serializes a value as JSON, with raw texts in place of the strings that stand for them. */
export function textOf(value: JsonValue): string {
  return JSON.stringify(value).replaceAll(
    /"@@raw:(\w+)"/g,
    (whole, name: string) => RAW_TEXTS_AND_FLOODS[name] ?? whole,
  );
}
