import { externalCall } from './node-dispatch.js';

describe('externalCall', () => {
  it('names the credential and the protocol of an external node, where they are ones', () => {
    const named = { endpoint_url: 'http://a.test', auth: 'key', protocol: 'founding' };
    const of = (type: string, config: typeof named | object) => externalCall({ id: 'n', type, config: { ...config } });
    expect(of('external', named)).toEqual({ credential: 'key', protocol: 'founding' });
    for (const other of [of('agent', named), of('external', { auth: '', protocol: '1.0' }), externalCall(undefined)])
      expect(other).toEqual({});
  });
});
