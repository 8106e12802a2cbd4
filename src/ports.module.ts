import { Global, Module } from '@nestjs/common';
import {
  AgentDirectory,
  CardGuard,
  type CredentialsOf,
  HttpAgentDirectory,
  isOfService,
  OutgoingFiles,
  RequestSigners,
} from '#libs/a2a-client';
import { Authentication } from '#libs/access';
import type { LocalRequestHandler } from '#libs/agents';
import { BrainstormModule, BrainstormNode } from '#libs/brainstorm';
import { ConversationAgentModule, ConversationNode } from '#libs/conversations';
import { CredentialNamers, CredentialsModule } from '#libs/credentials';
import { REVISION_CLAIM, RevisionClaimModule, RevisionClaims } from '#libs/executor';
import { FilesModule } from '#libs/files';
import { OutboundHttp } from '#libs/http-client';
import { ServiceAddress } from '#libs/http-server';
import { LimitGates } from '#libs/limits';
import { ModelNamers, ModelsModule } from '#libs/models';
import { type NodeType, NodesModule, OTHER_NODE_TYPES } from '#libs/nodes';
import { RemoteAgentsModule } from '#libs/remote-agents';
import { AppConfig, Metrics, ReceivedAnswers } from '#libs/service';
import { TriggerStoreModule } from '#libs/triggers';
import {
  ChildRunNode,
  NamedModelLookup,
  ObjectReferences,
  PostgresRunSlots,
  RunAgentsModule,
  ToolServers,
  WorkflowAgentsModule,
} from '#libs/workflows';
import {
  NamedModels,
  NamedObjects,
  RegisteredServers,
  UsableModels,
  WorkflowCredentialNamers,
} from './references-in-definitions.js';

/**
 * Holder of the request handler for calls to local agents. The handler is set only after all providers are constructed:
 * it needs the agents, the agents need the AgentDirectory to be constructed, and the AgentDirectory calls local agents
 * by this handler.
 */
export class LocalHandler {
  private handler: LocalRequestHandler | undefined;

  set(handler: LocalRequestHandler): void {
    this.handler = handler;
  }

  get(): LocalRequestHandler {
    if (!this.handler) throw new Error('LocalHandler has no handler yet');
    return this.handler;
  }
}

function agentDirectory(
  { agentBindings, cards, content, nodeDispatch }: AppConfig,
  http: OutboundHttp,
  metrics: Metrics,
  authentication: Authentication,
  address: ServiceAddress,
  guard: CardGuard,
  signers: RequestSigners,
  claims: RevisionClaims,
  files: OutgoingFiles,
  room: ReceivedAnswers,
  local: LocalHandler,
): AgentDirectory {
  const calls = metrics.counter('parley_outbound_calls_total', 'Calls to agents by what came of them', ['outcome']);
  return new HttpAgentDirectory({
    http: http.reachingSelf((url) => isOfService(url, address.ownUrls)),
    content,
    room,
    own: address,
    dialectMaxAge: cards.maxAgeMs,
    bindings: agentBindings,
    ...(nodeDispatch === 'local' && { local: { address, handler: () => local.get() } }),
    credentials: ownCredentials(authentication, claims, address),
    guard,
    signers,
    files,
    calls,
  });
}

/**
 * Returns the headers for calls to agents of this service over HTTP (`NODE_DISPATCH=http`): the signed owner of the
 * run, and the signed revision of the agent if a call requests one. Other URLs get no headers.
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

/**
 * Binds the ports (abstract classes) that one library declares and another library implements, for all modules:
 * - AgentDirectory: calls to agents, of this service and elsewhere.
 * - AgentCatalog, NodeTypes and the node types of other libraries.
 * - RequestSigners, OutgoingFiles, PartKeeper and RevisionClaims.
 * - ToolServers, NamedModelLookup, CredentialNamers, ModelNamers and ObjectReferences: lookups of names in definitions.
 */
@Global()
@Module({
  imports: [
    RemoteAgentsModule,
    CredentialsModule,
    TriggerStoreModule,
    FilesModule,
    RevisionClaimModule,
    ModelsModule,
    ConversationAgentModule,
    BrainstormModule,
    RunAgentsModule,
    NodesModule,
    WorkflowAgentsModule,
  ],
  providers: [
    LocalHandler,
    {
      provide: AgentDirectory,
      inject: [
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
        LocalHandler,
      ],
      useFactory: agentDirectory,
    },
    {
      provide: OTHER_NODE_TYPES,
      inject: [ConversationNode, BrainstormNode, ChildRunNode],
      useFactory: (...types: NodeType[]) => types,
    },
    { provide: LimitGates, useExisting: PostgresRunSlots },
    { provide: ToolServers, useClass: RegisteredServers },
    { provide: NamedModelLookup, useClass: UsableModels },
    { provide: CredentialNamers, useClass: WorkflowCredentialNamers },
    { provide: ModelNamers, useClass: NamedModels },
    { provide: ObjectReferences, useClass: NamedObjects },
  ],
  exports: [
    AgentDirectory,
    LocalHandler,
    OTHER_NODE_TYPES,
    ToolServers,
    NamedModelLookup,
    CredentialNamers,
    ModelNamers,
    LimitGates,
    ObjectReferences,
    CredentialsModule,
    FilesModule,
    RevisionClaimModule,
    ConversationAgentModule,
    RunAgentsModule,
    NodesModule,
    WorkflowAgentsModule,
  ],
})
export class PortsModule {}
