import type { JsonObject, JsonValue } from '#libs/protocol';
import { cardProblems } from './card-problems.js';

const CARD: JsonObject = {
  name: 'agent',
  description: 'An agent',
  version: '1',
  supportedInterfaces: [{ url: 'https://a.example', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 's', description: 's', tags: ['t'] }],
};

describe('cardProblems', () => {
  it('has nothing to say of a good card', () => {
    expect(cardProblems(CARD)).toEqual([]);
  });

  it.each<[string, JsonObject, string, 'error' | 'warning']>([
    ['no name', { name: 7 }, 'name', 'error'],
    ['an empty description', { description: '' }, 'description', 'warning'],
    ['no interfaces', { supportedInterfaces: [] }, 'supportedInterfaces', 'error'],
    [
      'an interface that is none',
      { supportedInterfaces: [endpoint('https://a'), 7] },
      'supportedInterfaces[1]',
      'error',
    ],
    ['only gRPC', { supportedInterfaces: [endpoint('a:1', 'GRPC')] }, 'supportedInterfaces', 'error'],
    ['a URL that is none', { supportedInterfaces: [endpoint('ftp://a')] }, 'supportedInterfaces[0].url', 'error'],
    ['plain HTTP', { supportedInterfaces: [endpoint('http://a')] }, 'supportedInterfaces[0].url', 'warning'],
    ['no modes', { defaultInputModes: [] }, 'defaultInputModes', 'error'],
    ['no streaming', { capabilities: {} }, 'capabilities.streaming', 'warning'],
    [
      'a required extension',
      { capabilities: { streaming: true, extensions: [{ required: true }] } },
      'capabilities.extensions[0]',
      'warning',
    ],
    ['no skills', { skills: [] }, 'skills', 'error'],
    ['a skill without tags', { skills: [{ id: 's', name: 's', description: 's' }] }, 'skills[0].tags', 'error'],
    ['a skill twice', { skills: [skill(), skill()] }, 'skills[1].id', 'error'],
    ['half a provider', { provider: { url: 'https://a' } }, 'provider.organization', 'error'],
    [
      'an unknown scheme',
      { securityRequirements: [{ schemes: { toString: { list: [] } } }] },
      'securityRequirements[0]',
      'error',
    ],
  ])('tells of %s', (_what, fields, path, level) => {
    expect(cardProblems({ ...CARD, ...fields })).toMatchObject([{ path, level }]);
  });

  it('reads cards of 0.3', () => {
    const { supportedInterfaces: _, ...rest } = CARD;
    const problems = cardProblems({ ...rest, url: 'https://a.example', protocolVersion: '0.3.0' });
    expect(problems).toMatchObject([{ level: 'warning', detail: expect.stringContaining('0.3') }]);
  });

  it('survives anything', () => {
    const values: JsonValue[] = [null, 7, 'x', [], [null], [[]], {}, { a: 1 }];
    for (const value of values) {
      for (const name of Object.keys(CARD)) expect(() => cardProblems({ ...CARD, [name]: value })).not.toThrow();
    }
  });
});

function endpoint(url: string, protocolBinding = 'JSONRPC'): JsonObject {
  return { url, protocolBinding, protocolVersion: '1.0' };
}

function skill(): JsonObject {
  return { id: 's', name: 's', description: 's', tags: ['t'] };
}
