import { type AgentCard, canonicalAgentCard, compactCardText } from './agent-card.js';
import { encodeAgentCard } from './codec/sdk-codec.js';
import { canonicalJson } from './json.js';

describe('the canonical form of a card (section 8.4.1)', () => {
  it('keeps REQUIRED fields and optional ones that were set, and leaves out what is empty otherwise', () => {
    // The example of the specification; what its fragment leaves open is required too.
    const text = canonical({
      name: 'Example Agent',
      description: '',
      capabilities: { streaming: false, pushNotifications: false, extensions: [] },
      skills: [],
    });
    expect(text).toBe(
      '{"capabilities":{"pushNotifications":false,"streaming":false},"defaultInputModes":[],"defaultOutputModes":[],' +
        '"description":"","name":"Example Agent","skills":[],"supportedInterfaces":[],"version":""}',
    );
  });

  it('completes the messages below the card', () => {
    const text = canonical({
      skills: [{ id: 's' }],
      supportedInterfaces: [{ url: 'u' }],
      provider: {},
      securitySchemes: {
        a: { oauth2SecurityScheme: {} },
        b: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 't' } } } },
        c: { mtlsSecurityScheme: {} },
      },
      securityRequirements: [{ schemes: { c: { list: [] } } }],
    });
    expect(JSON.parse(text)).toMatchObject({
      skills: [{ id: 's', name: '', description: '', tags: [] }],
      supportedInterfaces: [{ url: 'u', protocolBinding: '', protocolVersion: '' }],
      provider: { url: '', organization: '' },
      securitySchemes: {
        a: { oauth2SecurityScheme: { flows: {} } },
        b: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 't', scopes: {} } } } },
        c: { mtlsSecurityScheme: {} },
      },
      securityRequirements: [{ schemes: { c: {} } }],
    });
  });

  it('leaves out signatures and what is no field of 1.0', () => {
    const signed = { ...FULL, signatures: [{ protected: 'p', signature: 's' }], url: 'http://other', color: 'red' };
    expect(canonical(signed)).toBe(canonical(FULL));
  });

  it('is what the official SDK makes of a card in which nothing is empty, and not where something is', () => {
    expect(compactCardText(encodeAgentCard(FULL as AgentCard))).toBe(canonical(FULL));
    const bare = { ...FULL, description: '' };
    expect(compactCardText(encodeAgentCard(bare as AgentCard))).not.toBe(canonical(bare));
  });
});

describe('canonical JSON (RFC 8785)', () => {
  it('sorts by UTF-16 code units and writes as ECMAScript does', () => {
    expect(canonicalJson({ '\u20ac': 1, '\r': 2, '\ufb33': 3, 1: 4, '\u{1f600}': 5, a: [null, 1e21, 'ö"\n'] })).toBe(
      '{"\\r":2,"1":4,"a":[null,1e+21,"ö\\"\\n"],"€":1,"😀":5,"\ufb33":3}',
    );
  });
});

const FULL = {
  name: 'n',
  description: 'd',
  supportedInterfaces: [{ url: 'http://a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  version: '1',
  capabilities: { streaming: true, extendedAgentCard: false, extensions: [{ uri: 'urn:x', params: { n: 0 } }] },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 's', description: 's', tags: ['t'] }],
};

function canonical(card: object): string {
  return canonicalJson(canonicalAgentCard(encodeAgentCard(card as AgentCard)));
}
