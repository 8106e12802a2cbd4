import { type JsonObject, userMessage } from '#libs/protocol';
import { toolArgs } from './tool-node.js';

const args = (own: JsonObject | undefined, data?: JsonObject, text = 'T'): JsonObject =>
  toolArgs(userMessage(data === undefined ? text : [{ text }, { data }]), own);

describe("a tool's arguments", () => {
  it.each<[string, JsonObject | undefined, JsonObject | undefined, JsonObject]>([
    ['all come with the Message where the author names none', undefined, { url: 'u' }, { url: 'u' }],
    ['may stand under args', {}, { args: { url: 'u' } }, { url: 'u' }],
    ['that the author fixed stay', { url: 'http://a/' }, { url: 'http://b/' }, { url: 'http://a/' }],
    ['that the author left out may come', { url: 'http://a/' }, { zone: 'UTC' }, { url: 'http://a/', zone: 'UTC' }],
    [
      'of other types stay too',
      { n: 1, on: false, no: null },
      { n: 2, on: true, no: 'x' },
      { n: 1, on: false, no: null },
    ],
    ['take what stands for references', { url: 'http://a/{{in}}?b' }, { url: 'http://a/x?b' }, { url: 'http://a/x?b' }],
    ['take nothing else for them', { url: 'http://a/{{in}}' }, { url: 'http://b/x' }, { url: 'http://a/{{in}}' }],
    ['stay at any depth', { q: { a: ['1', '{{in}}'] } }, { q: { a: ['2', '3', '4'], b: 1 } }, { q: { a: ['1', '3'] } }],
    ['keep their kind', { q: { a: '1' }, l: ['{{in}}'] }, { q: 'x', l: 'y' }, { q: { a: '1' }, l: ['{{in}}'] }],
    ['have the text put in', { url: 'http://a/{{text}}' }, undefined, { url: 'http://a/T' }],
    ['have the text put in beside data', { url: 'http://a/{{text}}' }, { other: 1 }, { url: 'http://a/T', other: 1 }],
  ])('%s', (_what, own, data, expected) => {
    expect(args(own, data)).toEqual(expected);
  });

  it('are none of the prototype', () => {
    expect(args({ url: '{{in}}' }, JSON.parse('{"__proto__":{"url":"x"}}') as JsonObject).url).toBe('{{in}}');
  });
});
