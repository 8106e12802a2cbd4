import { Module } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import {
  AgentDirectory,
  CardGuard,
  RequestSigners,
  type CredentialsOf,
  HttpAgentDirectory,
  isOfService,
  type LocalAgents,
  OutgoingFiles,
} from '#libs/a2a-client';
import { InProcessHandler } from '#libs/a2a-server';
import { Authentication } from '#libs/access';
import { RemoteAgentsModule } from '#libs/remote-agents';
import { CredentialsModule } from '#libs/credentials';
import { REVISION_CLAIM, RevisionClaimModule, RevisionClaims } from '#libs/executor';
import { FilesModule } from '#libs/files';
import { ServiceAddress } from '#libs/http';
import { OutboundHttp } from '#libs/outbound';
import { AppConfig, Metrics, ReceivedAnswers } from '#libs/service';

/** Calls to agents, of this service and elsewhere. */
@Module({
  imports: [RemoteAgentsModule, CredentialsModule, FilesModule, RevisionClaimModule],
  providers: [
    {
      provide: AgentDirectory,
      inject: [
        ModuleRef,
        AppConfig,
        OutboundHttp,
        Metrics,
        Authentication,
        ServiceAddress,
        CardGuard,
        RequestSigners,
        RevisionClaims,
        OutgoingFiles,
        ReceivedAnswers,
      ],
      useFactory: (
        modules: ModuleRef,
        { cards, content, nodeDispatch }: AppConfig,
        http: OutboundHttp,
        metrics: Metrics,
        authentication: Authentication,
        address: ServiceAddress,
        guard: CardGuard,
        signers: RequestSigners,
        claims: RevisionClaims,
        files: OutgoingFiles,
        room: ReceivedAnswers,
      ) => {
        const calls = metrics.counter('parley_outbound_calls_total', 'Calls to agents by what came of them', [
          'outcome',
        ]);
        const credentials = ownCredentials(authentication, claims, address);
        return new HttpAgentDirectory({
          http: http.reachingSelf((url) => isOfService(url, address.ownUrls)),
          content,
          room,
          own: address,
          dialectMaxAge: cards.maxAgeMs,
          ...(nodeDispatch === 'local' && { local: localAgents(modules, address) }),
          credentials,
          guard,
          signers,
          files,
          calls,
        });
      },
    },
  ],
  exports: [AgentDirectory],
})
export class AgentsModule {}

/** Returns the dispatch of calls to local agents within the process. */
function localAgents(modules: ModuleRef, address: ServiceAddress): LocalAgents {
  // Looked up lazily: it serves agents that are built with clients of the directory.
  return { address, handler: () => modules.get<InProcessHandler>(InProcessHandler, { strict: false }) };
}

/**
 * Returns the credentials for calls to local agents over HTTP. With `NODE_DISPATCH=http` another replica has to know
 * the owner of the run and the revision; any other server is sent nothing.
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
        ...(revision !== undefined && { [REVISION_CLAIM]: claims.signRevision({ agent, scope }, revision) }),
      };
  };
}
