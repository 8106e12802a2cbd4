import type { JsonObject, JsonValue } from '#libs/protocol';
import { cardProblems, cardVersion } from './card-problems.js';

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
    expect(cardProblems(CARD, '1.0')).toEqual([]);
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
    ['an unknown binding', { supportedInterfaces: [endpoint('https://a', 'SOAP')] }, 'supportedInterfaces', 'error'],
    ['plain gRPC', { supportedInterfaces: [endpoint('a:1', 'GRPC')] }, 'supportedInterfaces[0].url', 'warning'],
    [
      'a gRPC URL without a host',
      { supportedInterfaces: [endpoint('/a', 'GRPC')] },
      'supportedInterfaces[0].url',
      'error',
    ],
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
    expect(cardProblems({ ...CARD, ...fields }, '1.0')).toMatchObject([{ path, level }]);
  });

  it('reads cards of 0.3', () => {
    const { supportedInterfaces: _, ...rest } = CARD;
    const problems = cardProblems({ ...rest, url: 'https://a.example', protocolVersion: '0.3.0' }, '0.3');
    expect(problems).toMatchObject([{ level: 'warning', detail: expect.stringContaining('0.3') }]);
  });

  it('asks of a card from before A2A 1.0 for what it has', () => {
    const { supportedInterfaces: _, version: _version, skills: _skills, ...rest } = CARD;
    const card = { ...rest, url: 'https://a.example' };
    expect(cardProblems(card, 'pre-1.0')).toMatchObject([
      { level: 'warning', detail: expect.stringContaining('before A2A 1.0') },
    ]);
    expect(cardProblems({ ...card, name: 1, url: 'x' }, 'pre-1.0').map(({ path }) => path)).toEqual([
      '',
      'name',
      'url',
    ]);
  });

  it('tells a card’s version by its members and its place', () => {
    const place = 'https://a.example/agent-card';
    const old = { name: 'a', url: 'https://a.example' };
    expect(cardVersion(place, CARD)).toBe('1.0');
    expect(cardVersion(place, old)).toBe('pre-1.0');
    expect(cardVersion(place, { ...old, protocolVersion: '0.3.0' })).toBe('0.3');
    expect(cardVersion(`${place}.json`, old)).toBe('0.3');
  });

  it('survives anything', () => {
    const values: JsonValue[] = [null, 7, 'x', [], [null], [[]], {}, { a: 1 }];
    for (const value of values) {
      for (const name of Object.keys(CARD))
        for (const version of ['1.0', '0.3', 'pre-1.0'] as const)
          expect(() => cardProblems({ ...CARD, [name]: value }, version)).not.toThrow();
    }
  });
});

function endpoint(url: string, protocolBinding = 'JSONRPC'): JsonObject {
  return { url, protocolBinding, protocolVersion: '1.0' };
}

function skill(): JsonObject {
  return { id: 's', name: 's', description: 's', tags: ['t'] };
}
