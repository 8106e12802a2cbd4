import { Module } from '@nestjs/common';
import {
  AgentDirectory,
  CardGuard,
  CredentialProofs,
  type CredentialsOf,
  HttpAgentDirectory,
  isOfService,
  LocalAgents,
} from '#libs/a2a-client';
import { Authentication } from '#libs/access';
import { CalleesModule } from '#libs/callees';
import { CredentialsModule } from '#libs/credentials';
import { REVISION_CLAIM, RevisionClaimModule, RevisionClaims } from '#libs/executor';
import { ServiceAddress } from '#libs/http';
import { OutboundHttp } from '#libs/outbound';
import { AppConfig, Metrics } from '#libs/service';
import { InProcessAgents } from './in-process-agents.js';

/** Calls to agents, foreign ones and our own. */
@Module({
  imports: [CalleesModule, CredentialsModule, RevisionClaimModule],
  providers: [
    { provide: LocalAgents, useClass: InProcessAgents },
    {
      provide: AgentDirectory,
      inject: [
        AppConfig,
        OutboundHttp,
        LocalAgents,
        Metrics,
        Authentication,
        ServiceAddress,
        CardGuard,
        CredentialProofs,
        RevisionClaims,
      ],
      useFactory: (
        { content }: AppConfig,
        http: OutboundHttp,
        locals: LocalAgents,
        metrics: Metrics,
        authentication: Authentication,
        address: ServiceAddress,
        guard: CardGuard,
        proofs: CredentialProofs,
        claims: RevisionClaims,
      ) => {
        const calls = metrics.counter('parley_outbound_calls_total', 'Calls to agents by what came of them', [
          'outcome',
        ]);
        const credentials = ownCredentials(authentication, claims, address);
        return new HttpAgentDirectory({
          http: http.reachingSelf((url) => isOfService(url, address.ownUrls)),
          content,
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

/**
 * With `NODE_DISPATCH=http` another replica must know whose run it works for, and by which revision; no other server is
 * told anything.
 */
function ownCredentials(
  authentication: Authentication,
  claims: RevisionClaims,
  address: ServiceAddress,
): CredentialsOf {
  return (agentUrl) => {
    const root = `${address.internalUrl}/a2a`;
    if (agentUrl !== root && !agentUrl.startsWith(`${root}/`)) return undefined;
    const agent = agentUrl.slice(root.length + 1);
    return ({ scope, revision }) =>
      scope && {
        ...(authentication.required && { authorization: authentication.nodeAuthorization(scope) }),
        ...(revision !== undefined && { [REVISION_CLAIM]: claims.sign({ agent, scope }, revision) }),
      };
  };
}
