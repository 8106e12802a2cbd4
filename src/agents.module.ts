import { Module } from '@nestjs/common';
import {
  AgentDirectory,
  CardGuard,
  CredentialProofs,
  type CredentialsOf,
  HttpAgentDirectory,
  LocalAgents,
} from '#libs/a2a-client';
import { Authentication } from '#libs/access';
import { CalleesModule } from '#libs/callees';
import { CredentialsModule } from '#libs/credentials';
import { Metrics, OutboundHttp, ServiceAddress } from '#libs/platform';
import { InProcessAgents } from './in-process-agents.js';

/** Calls to agents, foreign ones and our own. */
@Module({
  imports: [CalleesModule, CredentialsModule],
  providers: [
    { provide: LocalAgents, useClass: InProcessAgents },
    {
      provide: AgentDirectory,
      inject: [OutboundHttp, LocalAgents, Metrics, Authentication, ServiceAddress, CardGuard, CredentialProofs],
      useFactory: (
        http: OutboundHttp,
        locals: LocalAgents,
        metrics: Metrics,
        authentication: Authentication,
        address: ServiceAddress,
        guard: CardGuard,
        proofs: CredentialProofs,
      ) => {
        const calls = metrics.counter('parley_outbound_calls_total', 'Calls to agents by what came of them', [
          'outcome',
        ]);
        const credentials = ownCredentials(authentication, address);
        return new HttpAgentDirectory({
          http,
          locals: () => locals,
          credentials,
          guard,
          proofs,
          count: (outcome) => calls.inc({ outcome }),
        });
      },
    },
  ],
  exports: [AgentDirectory],
})
export class AgentsModule {}

/** With `NODE_DISPATCH=http` another replica must know whose run it works for; no other server is told anything. */
function ownCredentials(authentication: Authentication, address: ServiceAddress): CredentialsOf {
  return (agentUrl) => {
    const root = `${address.internalUrl}/a2a`;
    const isOwn = agentUrl === root || agentUrl.startsWith(`${root}/`);
    if (!authentication.required || !isOwn) return undefined;
    return ({ scope }) => scope && { authorization: authentication.nodeAuthorization(scope) };
  };
}
