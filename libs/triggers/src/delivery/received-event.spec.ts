import type { WebhookSource } from '../signatures/webhook-source.js';
import { challengeOf, deliveryIdOf, type ProvenDelivery, readEvent } from './received-event.js';

const GITHUB: WebhookSource = { scheme: 'github', secrets: ['push'] };
const SLACK: WebhookSource = { scheme: 'slack', secrets: ['push'] };
const STRIPE: WebhookSource = { scheme: 'stripe', secrets: ['push'] };
const MOST_MEMBERS = 50;

function delivery(body: string, headers: ProvenDelivery['headers'] = {}, query = ''): ProvenDelivery {
  return { headers, body: Buffer.from(body), query };
}

const read = (body: string, headers: ProvenDelivery['headers'] = {}, query = '') =>
  readEvent(GITHUB, delivery(body, headers, query), MOST_MEMBERS);

describe('An event', () => {
  it('has the JSON of the body, the headers and the query', () => {
    const headers = { 'content-type': 'application/json', 'x-github-event': 'push', 'x-many': ['a', 'b'] as never };
    expect(read('{"ref":"main","n":1}', headers, 'a=1&a=2&b=x%20y')).toEqual({
      body: { ref: 'main', n: 1 },
      headers: { 'content-type': 'application/json', 'x-github-event': 'push', 'x-many': 'a, b' },
      query: { a: '1', b: 'x y' },
    });
  });

  it('has no header that holds a secret or the signature', () => {
    const headers = { authorization: 'Bearer x', cookie: 'x', 'x-api-key': 'x', 'x-hub-signature-256': 'x', host: 'h' };
    expect(read('{}', headers)['headers']).toEqual({ host: 'h' });
  });

  it('has the fields of a form, a text, or null for an empty body', () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    expect(read('text=a+b&__proto__=x', form)['body']).toEqual(JSON.parse('{"text":"a b","__proto__":"x"}'));
    expect(read('Hello, World!')['body']).toBe('Hello, World!');
    expect(read('')['body']).toBe(null);
  });

  it.each([
    ['a body that is not the JSON that it claims to be', '{', { 'content-type': 'application/cloudevents+json' }],
    ['a body with too many members', `[${'1,'.repeat(MOST_MEMBERS)}1]`, {}],
    ['a body that is nested too deep', `${'['.repeat(101)}1${']'.repeat(101)}`, {}],
    ['a number beyond IEEE 754', '{"n":1e999}', { 'content-type': 'application/json' }],
    ['too many fields', 'a=1&'.repeat(201), { 'content-type': 'application/x-www-form-urlencoded' }],
  ])('is not made of %s', (_what, body, headers) => {
    expect(() => readEvent(GITHUB, delivery(body, headers), MOST_MEMBERS)).toThrow(
      expect.objectContaining({ status: 400 }),
    );
  });
});

describe('The id of a delivery', () => {
  it('is the one that its sender repeats', () => {
    const idOf = (source: WebhookSource, body: string, headers: ProvenDelivery['headers'] = {}): string => {
      const sent = delivery(body, headers);
      return deliveryIdOf(source, sent, readEvent(source, sent, MOST_MEMBERS));
    };
    expect(idOf(GITHUB, '{}', { 'x-github-delivery': 'guid' })).toBe('guid');
    expect(idOf(STRIPE, '{"id":"evt_1"}')).toBe('evt_1');
    expect(idOf(SLACK, '{"event_id":"Ev1"}')).toBe('Ev1');
    expect(idOf({ scheme: 'standard-webhooks', secrets: [] }, '{}', { 'webhook-id': 'msg_1' })).toBe('msg_1');
    expect(idOf({ scheme: 'hmac', secrets: [], idHeader: 'X-Id' }, '{}', { 'x-id': '7' })).toBe('7');
  });

  it('is made of the content if the sender sends none, or none that can be stored', () => {
    const idOf = (body: string, headers: ProvenDelivery['headers'] = {}, source = GITHUB): string =>
      deliveryIdOf(source, delivery(body, headers), { body: null });
    expect(idOf('{}')).toMatch(/^sha256:[\da-f]{64}$/);
    expect(idOf('{}')).toBe(idOf('{}', { 'x-github-delivery': 'with space' }));
    expect(idOf('{}')).toBe(idOf('{}', { 'x-github-delivery': 'x'.repeat(201) }));
    expect(idOf('{}')).not.toBe(idOf('{ }'));
    const queried = (scheme: 'bearer' | 'hmac', query: string): string =>
      deliveryIdOf({ scheme, secrets: [] }, delivery('{}', {}, query), { body: null });
    expect(queried('bearer', 'a=1')).not.toBe(queried('bearer', 'a=2'));
    expect(queried('hmac', 'a=1')).toBe(queried('hmac', 'a=2'));
    const at = (time: string): string => idOf('payload=x', { 'x-slack-request-timestamp': time }, SLACK);
    expect(at('1')).not.toBe(at('2'));
  });
});

it('The challenge of Slack is answered, and that of no other scheme', () => {
  const event = { body: { type: 'url_verification', challenge: 'abc' } };
  expect(challengeOf(SLACK, event)).toBe('abc');
  expect(challengeOf(GITHUB, event)).toBe(undefined);
  expect(challengeOf(SLACK, { body: { type: 'event_callback', challenge: 'abc' } })).toBe(undefined);
});
