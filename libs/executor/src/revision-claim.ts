import { createHmac, timingSafeEqual } from 'node:crypto';
import { A2AError } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import { Module } from '@nestjs/common';
import { Database, serviceSecret } from '#libs/postgres';

/** HTTP header in which a replica that calls an agent for a run sends the revision that the run was started with. */
export const REVISION_CLAIM = 'parley-revision';

/** Caller and agent that a claim is valid for. */
export interface ClaimedCall {
  agent: string;
  scope: TaskScope;
}

/** Milliseconds for which a claim is valid. Clocks of replicas may differ by less than this. */
const CLAIM_MS = 60_000;
const CONTEXT = 'parley-revision-1';
const MAX_LENGTH = 1024;

/**
 * Signs and reads the revisions that calls between replicas ask for (HMAC-SHA-256 with the secret that the replicas
 * share). Only runs may call an agent by a revision other than its newest. A claim is valid for one agent, one owner
 * and a minute.
 */
export class RevisionClaims {
  constructor(private readonly secret: Buffer) {}

  signRevision(call: ClaimedCall, revision: string, now = Date.now()): string {
    const content = Buffer.from(JSON.stringify([revision, now + CLAIM_MS])).toString('base64url');
    return `${content}.${this.computeSignature(call, content).toString('base64url')}`;
  }

  /**
   * Returns the revision that a claim asks for.
   * @throws A2AError INVALID_REQUEST if no replica signed the claim for this call, or it has expired
   */
  readRevision(call: ClaimedCall, claim: string, now = Date.now()): string {
    const [content = '', signature = '', ...rest] = claim.length > MAX_LENGTH ? [] : claim.split('.');
    const [given, expected] = [Buffer.from(signature, 'base64url'), this.computeSignature(call, content)];
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) throw claimRefused();
    const [revision, ends] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [string, number];
    if (now >= ends) throw claimRefused();
    return revision;
  }

  private computeSignature({ agent, scope: { tenant, owner } }: ClaimedCall, content: string): Buffer {
    const signed = JSON.stringify([CONTEXT, tenant, owner, agent, content]);
    return createHmac('sha256', this.secret).update(signed).digest();
  }
}

function claimRefused(): A2AError {
  return new A2AError('INVALID_REQUEST', { message: `${REVISION_CLAIM}: is not signed for this call, or has ended` });
}

/** RevisionClaims with the secret that all replicas share. Needs PostgresModule. */
@Module({
  providers: [
    {
      provide: RevisionClaims,
      inject: [Database],
      useFactory: async (database: Database) => new RevisionClaims(await serviceSecret(database, 'revision-claim')),
    },
  ],
  exports: [RevisionClaims],
})
export class RevisionClaimModule {}
