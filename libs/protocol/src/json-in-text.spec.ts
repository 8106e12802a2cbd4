import { jsonInText } from './json-in-text.js';
import { isJsonObject, type JsonValue, tryParseJson } from './json.js';

const read = (json: string): JsonValue | undefined => tryParseJson(json, 100);
const isAnswer = (value: JsonValue): boolean => isJsonObject(value) && value['a'] === 1;

describe('JSON in a text of a model', () => {
  const surroundings: [what: string, text: string][] = [
    ['alone', '{"a":1}'],
    ['white space', ' \r\n{"a":1}\t\n'],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['words', 'Of course! {"a":1} is what you want.'],
    ['a citation before it', 'As of [1], the answer: {"a":1}'],
    ['a citation behind it', 'The answer: {"a":1} (see [1] and [2])'],
    ['citations around it', '[2] says {"a":1}, as [3] does'],
    ['a link', 'See [the page](https://a.example/[x]) for {"a":1}.'],
    ['braces in words', 'Use {name} and {{template}} as in {"a":1} {end}'],
    ['brackets that do not close', 'a [list {of things: {"a":1}'],
    ['brackets that were never open', 'so ] and } then {"a":1} ] }'],
    ['a list that is none', '[see {"a":1}]'],
    ['quotes in words', 'He said "take {" and "}" then {"a":1} "'],
    ['apostrophes', "It's the model's {\"a\":1}, isn't it"],
    ['a fence', '```\n{"a":1}\n```'],
    ['a labeled fence', '```json\n{"a":1}\n```'],
    ['a label in capitals', '```JSON\n{"a":1}\n```'],
    ['a fence with CRLF', 'Here:\r\n```json\r\n{"a":1}\r\n```\r\nAnything else?'],
    ['a fence that is indented', '  ```json\n  {"a":1}\n  ```'],
    ['a fence within a line', 'Answer: ```{"a":1}``` as asked'],
    ['a fence on one line', '```json {"a":1}```'],
    ['a fence that stays open', '```json\n{"a":1}'],
    ['a fence that closes behind it', '```json\n{"a":1}```'],
    ['a comment in its fence', '```json\nthe answer:\n{"a":1}\n```'],
    ['a fence of code before it', '```js\nconst x = {b: 2};\n```\nso\n```json\n{"a":1}\n```'],
    ['other JSON before its fence', 'Input was {"a":2}.\n```json\n{"a":1}\n```'],
    ['several fences of which one is labeled', '```\n{"a":2}\n```\n```json\n{"a":1}\n```'],
    ['a list in a citation and a fence', 'From [1]:\n```\n{"a":1}\n```\nand [2]'],
    ['thoughts', '<think>maybe {"a":2}, or [3]?</think>\n{"a":1}'],
    ['thoughts and words', '<think>\n```json\n{"a":2}\n```\n</think>\nSo {"a":1}.'],
  ];

  it.each(surroundings)('is found with %s around it', (_what, text) => {
    expect(jsonInText(text, { read })).toEqual({ a: 1 });
    expect(jsonInText(text, { read, fits: isAnswer })).toEqual({ a: 1 });
  });

  it.each<[string, string]>([
    ['another object before it', 'Given {"b":2} it is {"a":1}'],
    ['an object of the same kind before it', 'Not {"a":2} but {"a":1}'],
    ['another fence before it', '```json\n{"b":1}\n```\n```json\n{"a":1}\n```'],
    ['a fence that has something else', '```json\n[1]\n```\nthat is {"a":1}'],
    ['many citations', `${'[1] '.repeat(500)}{"a":1}`],
  ])('is the first that fits, with %s', (_what, text) => {
    expect(jsonInText(text, { read, fits: isAnswer })).toEqual({ a: 1 });
  });

  it.each<[string, JsonValue]>([
    ['[1] and [2]', [1]],
    ['null', null],
    ['"text"', 'text'],
    ['```json\n5\n```', 5],
    ['{"a":1} and {"b":2}', { a: 1 }],
    ['a list: [{"a":1}, 2] there', [{ a: 1 }, 2]],
    ['{"code":"```json\\n{}\\n```","a":[1]}', { code: '```json\n{}\n```', a: [1] }],
    ['so {"code":"```json\\n{}\\n```"} it is', { code: '```json\n{}\n```' }],
    ['{"text":"a \\"quoted\\" } and ]","b":[{"c":"{"}]} done', { text: 'a "quoted" } and ]', b: [{ c: '{' }] }],
    [
      '{"n":-1.5e3,"t":true,"f":false,"z":null,"e":[],"o":{}} .',
      { n: -1500, t: true, f: false, z: null, e: [], o: {} },
    ],
  ])('in %j is %j', (text, value) => {
    expect(jsonInText(text, { read })).toEqual(value);
  });

  it('is the first there is where none fits', () => {
    expect(jsonInText('Is it [1] or {"a":2}?', { read, fits: isAnswer })).toEqual({ a: 2 });
    expect(jsonInText('[1]', { read, fits: isAnswer })).toEqual([1]);
  });

  it.each(['', 'no', 'a } b {', '{"a":1 and {b:2}', '```json\nno\n```', '{x}', '[1', '{"a":1,}', '{"a" 1}', '[tru]'])(
    'is not found in %j',
    (text) => {
      expect(jsonInText(text, { read })).toBeUndefined();
    },
  );

  it.each([
    ['open braces', '{'.repeat(1_048_576)],
    ['open brackets', '['.repeat(1_048_576)],
    ['open names', '{"a":'.repeat(200_000)],
    ['empty objects', '{}'.repeat(524_288)],
    ['quotes in braces', '{"'.repeat(524_288)],
    ['fences', '```json\n'.repeat(131_072)],
    ['open strings', `{"${'a['.repeat(524_288)}`],
  ])('is looked for in the time of its length, in a text of %s', (_what, text) => {
    let reads = 0;
    const counted = (json: string): JsonValue | undefined => {
      reads += json.length;
      return undefined;
    };
    jsonInText(text, { read: counted });
    expect(reads).toBeLessThan(20 * text.length);
  });
});
