import { presentedCredentials, upgradeCredentials } from './credentials.js';

describe('credentials', () => {
  it.each([
    [{}, undefined],
    [{ authorization: 'Bearer abc' }, { kind: 'bearer', value: 'abc' }],
    [{ authorization: 'bearer  abc ' }, { kind: 'bearer', value: 'abc' }],
    [{ 'x-api-key': 'abc' }, { kind: 'bearer', value: 'abc' }],
    [
      { authorization: 'Bearer abc', 'x-api-key': 'def' },
      { kind: 'bearer', value: 'abc' },
    ],
    [{ authorization: 'Parley-Node a.b' }, { kind: 'node', value: 'a.b' }],
    [
      { authorization: 'Basic abc', 'x-api-key': 'def' },
      { kind: 'bearer', value: '' },
    ],
    [{ authorization: 'abc' }, { kind: 'bearer', value: '' }],
    [{ authorization: '' }, { kind: 'bearer', value: '' }],
  ])('of %j are %j', (headers, expected) => expect(presentedCredentials(headers)).toEqual(expected));

  it('of a WebSocket may come as a subprotocol', () => {
    const offered = { 'sec-websocket-protocol': 'parley.events, parley.ticket.a.b', authorization: 'Bearer x' };
    expect(upgradeCredentials(offered)).toEqual({ kind: 'ticket', value: 'a.b' });
    expect(upgradeCredentials({ 'sec-websocket-protocol': 'parley.events', 'x-api-key': 'k' })).toEqual({
      kind: 'bearer',
      value: 'k',
    });
    expect(presentedCredentials(offered)?.kind).toBe('bearer');
  });
});
