import { randomBytes } from 'node:crypto';
import { A2AError } from '#libs/protocol';
import { type ClaimedCall, RevisionClaims } from './execution.js';

const claims = new RevisionClaims(randomBytes(32));
const call: ClaimedCall = { agent: 'workflows/w/nodes/n', scope: { tenant: 't', owner: 'ann' } };

describe('a claim of a revision', () => {
  it('is read by whoever knows the secret', () => {
    expect(claims.readRevision(call, claims.signRevision(call, '12'))).toBe('12');
  });

  it.each<[string, ClaimedCall]>([
    ['agent', { ...call, agent: 'workflows/w/nodes/m' }],
    ['owner', { ...call, scope: { ...call.scope, owner: 'eve' } }],
    ['tenant', { ...call, scope: { ...call.scope, tenant: 'u' } }],
  ])('holds for no other %s', (_what, other) => {
    expect(() => claims.readRevision(other, claims.signRevision(call, '12'))).toThrow(A2AError);
  });

  it('holds for a minute', () => {
    const claim = claims.signRevision(call, '12', 1_000);
    expect(claims.readRevision(call, claim, 60_999)).toBe('12');
    expect(() => claims.readRevision(call, claim, 61_000)).toThrow('is not signed for this call, or has expired');
  });

  it('cannot be changed, nor made with another secret', () => {
    const [content = '', signature = ''] = claims.signRevision(call, '12').split('.');
    const other = Buffer.from(JSON.stringify(['13', Date.now() + 60_000])).toString('base64url');
    const foreign = new RevisionClaims(randomBytes(32)).signRevision(call, '12');
    for (const forged of [
      `${other}.${signature}`,
      `${content}.`,
      content,
      '',
      '.',
      `${content}.${signature}.x`,
      foreign,
    ]) {
      expect(() => claims.readRevision(call, forged)).toThrow(A2AError);
    }
  });
});
