import { NODE_FIELDS, type NodeField, parseNumber, shownFields } from './node-fields.js';

const field = (type: string, key: string): NodeField => {
  const found = NODE_FIELDS[type]?.find((it) => it.key === key);
  if (!found) throw new Error(`${type} has no ${key}`);
  return found;
};

describe('row G3: what can be set at an external agent', () => {
  it('row G3: its endpoint', () => {
    expect(field('external', 'endpoint_url')).toMatchObject({
      label: 'Endpoint URL',
      placeholder: 'https://agent.example.com/a2a',
    });
  });

  it('a registered agent instead, which has no endpoint, credential and protocol, but a skill', () => {
    const keysOf = (config: object): string[] =>
      shownFields(NODE_FIELDS.external ?? [], { ...config }).map((it) => it.key);
    const rest = ['timeout', 'prompt', 'data'];
    expect(keysOf({ agent: 'a' }).toSorted()).toEqual(['agent', 'skill', ...rest].toSorted());
    expect(keysOf({ endpoint_url: '' }).toSorted()).toEqual(
      ['agent', 'endpoint_url', 'auth', 'protocol', ...rest].toSorted(),
    );
  });

  it('its protocol, which is left out unless it is that from before A2A 1.0', () => {
    const { kind, options = {} } = field('external', 'protocol');
    expect([kind, Object.keys(options)]).toEqual(['choice', ['', 'founding']]);
  });

  it('row G3: its timeout, at least 1, and 30 for what is no number', () => {
    const timeout = field('external', 'timeout');
    expect(timeout).toMatchObject({ label: 'Timeout (seconds)', kind: 'number', min: 1, fallback: 30 });
    expect(['12', '1.5', '', 'x', '0', '-3', '1e999'].map((text) => parseNumber(text, timeout))).toEqual([
      12, 1.5, 30, 30, 30, 30, 30,
    ]);
  });
});

test('a conversation says whether agents elsewhere get the prompt of a turn as a text', () => {
  const { kind, options = {} } = field('conversation', 'instructions');
  expect([kind, Object.keys(options)]).toEqual(['choice', ['', 'text']]);
});
