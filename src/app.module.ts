import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { APP_FILTER, APP_PIPE, ModuleRef } from '@nestjs/core';
import {
  AgentDirectory,
  CardGuard,
  type CredentialsOf,
  HttpAgentDirectory,
  isOfService,
  type LocalAgents,
  OutgoingFiles,
  RequestSigners,
} from '#libs/a2a-client';
import { A2aServerModule, GrpcServer, InProcessHandler } from '#libs/a2a-server';
import { ACCESS_MIGRATIONS, AccessApiModule, AccessModule, Authentication } from '#libs/access';
import { BRAINSTORM_MIGRATIONS, BrainstormApiModule, BrainstormModule, BrainstormNode } from '#libs/brainstorm';
import {
  CONVERSATION_MIGRATIONS,
  ConversationAgentModule,
  ConversationNode,
  ConversationsModule,
} from '#libs/conversations';
import { CREDENTIAL_MIGRATIONS, CredentialNamers, CredentialsApiModule, CredentialsModule } from '#libs/credentials';
import { EventGatewayModule } from '#libs/event-gateway';
import {
  CancelPoller,
  ChildEndings,
  ExecutorModule,
  LeftReplicas,
  REVISION_CLAIM,
  RevisionClaimModule,
  RevisionClaims,
  TaskRecovery,
} from '#libs/executor';
import { FILE_MIGRATIONS, FilesApiModule, FilesModule } from '#libs/files';
import { GenerationModule } from '#libs/generation';
import { OutboundHttp, OutboundModule } from '#libs/http-client';
import { ApiValidationPipe, HttpModule, ProblemFilter, ServiceAddress, SIGNING_MIGRATIONS } from '#libs/http-server';
import { JOB_MIGRATIONS, JobsModule } from '#libs/jobs';
import { MCP_MIGRATIONS, McpClientModule, McpServers } from '#libs/mcp-client';
import { MODEL_MIGRATIONS, ModelNamers, ModelsApiModule, ModelsModule, ModelStore } from '#libs/models';
import { NodesModule } from '#libs/nodes';
import { PostgresModule } from '#libs/postgres';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { PUSH_MIGRATIONS, PUSHES_UNDER_WAY, PushModule } from '#libs/push';
import { REMOTE_AGENT_MIGRATIONS, RemoteAgentsModule } from '#libs/remote-agents';
import { AppConfig, Metrics, ReceivedAnswers, ServiceModule } from '#libs/service';
import {
  CommitForgetJob,
  CountFoldingJob,
  TASK_MIGRATIONS,
  TaskPurge,
  TaskPurgeJob,
  TASKS_UNDER_WAY,
  TasksModule,
} from '#libs/tasks';
import { TracingModule } from '#libs/tracing';
import { INPUT_REASONS, type WorkflowNode } from '#libs/workflow-definition';
import { runProjection } from '#libs/workflow-engine';
import {
  ChildRunNode,
  WORKFLOW_MIGRATIONS,
  WorkflowsModule,
  RunAgentsModule,
  ToolServers,
  WorkflowAgentsModule,
  WorkflowStore,
} from '#libs/workflows';

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
class AgentsModule {}

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

/** Looks up the MCP servers of workflows among those that the tenant may call. */
@Injectable()
class RegisteredServers extends ToolServers {
  constructor(private readonly servers: McpServers) {
    super();
  }

  override async has(tenant: string, name: string): Promise<boolean> {
    return (await this.servers.get(tenant, name)) !== undefined;
  }
}

/** Provides the MCP servers for the validation of workflows. */
@Module({
  providers: [{ provide: ToolServers, useClass: RegisteredServers }],
  exports: [ToolServers],
})
class ToolServersModule {}

const PAGE = 500;

/** Finds the users of a credential: node configs of workflows, models, and MCP servers. */
@Injectable()
class WorkflowCredentialNamers extends CredentialNamers {
  constructor(
    private readonly store: WorkflowStore,
    private readonly stored: ModelStore,
    private readonly mcp: McpServers,
  ) {
    super();
  }

  workflows(tenant: string, credential: string): Promise<string[]> {
    return findNamingWorkflows(this.store.inTenant(tenant), (config) => namesCredential(config, credential));
  }

  models(tenant: string, credential: string): Promise<string[]> {
    return this.stored.namesUsingCredential(tenant, credential);
  }

  servers(tenant: string, credential: string): Promise<string[]> {
    return this.mcp.namesUsingCredential(tenant, credential);
  }
}

/** Finds the workflows that name a model, in the config of an agent node. */
@Injectable()
class NamedModels extends ModelNamers {
  constructor(private readonly store: WorkflowStore) {
    super();
  }

  findNamingWorkflows(tenant: string, model: string): Promise<string[]> {
    return findNamingWorkflows(this.store.inTenant(tenant), (config) => namesModel(config, model));
  }
}

@Module({})
class NamersModule {
  /**
   * @param workflows module that exports WorkflowStore
   * @param models module that exports ModelStore
   */
  static withStores(workflows: DynamicModule, models: DynamicModule): DynamicModule {
    return {
      module: NamersModule,
      imports: [workflows, models],
      providers: [
        { provide: CredentialNamers, useClass: WorkflowCredentialNamers },
        { provide: ModelNamers, useClass: NamedModels },
      ],
      exports: [CredentialNamers, ModelNamers],
    };
  }
}

/** Returns the workflows with a node, also an inner one, whose config matches. */
async function findNamingWorkflows(
  store: ReturnType<WorkflowStore['inTenant']>,
  names: (config: JsonObject) => boolean,
): Promise<string[]> {
  const found: string[] = [];
  let page = await store.listRevisions(PAGE);
  for (; page.length > 0; page = await store.listRevisions(PAGE, page.at(-1)?.definition.name)) {
    const those = page.filter(({ definition }) => definition.nodes.some((node) => inAny(node, names)));
    found.push(...those.map(({ definition }) => definition.name));
  }
  return found;
}

function inAny({ config }: Pick<WorkflowNode, 'config'>, names: (config: JsonObject) => boolean): boolean {
  if (names(config)) return true;
  const inner = isJsonObject(config.body) && Array.isArray(config.body.nodes) ? config.body.nodes : [];
  return inner.some((it) => isJsonObject(it) && isJsonObject(it.config) && inAny({ config: it.config }, names));
}

/**
 * True if a config names a credential: `auth` of the node, of a side of a conversation, of an agent used as a tool, or
 * of an agent of a brainstorm, which may also have a `credential_ref`.
 */
function namesCredential(config: JsonObject, credential: string): boolean {
  const agents = [config.agents, config.tools].flatMap((list) => (Array.isArray(list) ? list : []));
  return [config, ...agents].some(
    (it) => isJsonObject(it) && [it.auth, it.credential_ref].some((named) => isNamed(named, credential)),
  );
}

function isNamed(auth: JsonValue | undefined, credential: string): boolean {
  return auth === credential || (isJsonObject(auth) && Object.values(auth).includes(credential));
}

function namesModel({ model, fallbacks }: JsonObject, name: string): boolean {
  return model === name || (Array.isArray(fallbacks) && fallbacks.includes(name));
}

/** Root module of the service. */
@Module({})
export class AppModule {
  static forConfig(config: AppConfig): DynamicModule {
    const migrations = [
      ...JOB_MIGRATIONS,
      ...SIGNING_MIGRATIONS,
      ...TASK_MIGRATIONS,
      ...WORKFLOW_MIGRATIONS,
      ...CONVERSATION_MIGRATIONS,
      ...BRAINSTORM_MIGRATIONS,
      ...PUSH_MIGRATIONS,
      ...ACCESS_MIGRATIONS,
      ...REMOTE_AGENT_MIGRATIONS,
      ...CREDENTIAL_MIGRATIONS,
      ...MCP_MIGRATIONS,
      ...MODEL_MIGRATIONS,
      ...FILE_MIGRATIONS,
    ];
    const push = PushModule.withApi(TasksModule);
    const conversations = ConversationAgentModule.withAgents(AgentsModule);
    const brainstorms = BrainstormModule.withAgents(AgentsModule, CredentialsModule);
    const runs = RunAgentsModule.withAgents(AgentsModule, TasksModule);
    const models = ModelsModule.withSigners(CredentialsModule);
    const nodes = NodesModule.withAgents(
      AgentsModule,
      models,
      { from: conversations, type: ConversationNode },
      { from: brainstorms, type: BrainstormNode },
      { from: runs, type: ChildRunNode },
    );
    const workflows = WorkflowAgentsModule.withAgents(nodes, runs, AgentsModule, TasksModule);
    const namers = NamersModule.withStores(workflows, models);
    const executor = {
      module: ExecutorModule,
      imports: [workflows, FilesModule],
      providers: [ChildEndings],
      exports: [workflows, ChildEndings],
    };
    const gateway = EventGatewayModule.forStreams({ names: ['a2a', 'run', 'tool'], projections: [runProjection] }, [
      executor,
    ]);
    return {
      module: AppModule,
      imports: [
        ServiceModule.forRoot(config),
        PostgresModule.forRoot({ migrations, underWay: [TASKS_UNDER_WAY, PUSHES_UNDER_WAY] }),
        JobsModule,
        OutboundModule,
        TracingModule,
        HttpModule,
        AccessModule,
        AccessApiModule,
        WorkflowsModule.withExecutor(executor, ToolServersModule),
        ConversationsModule.withExecutor(executor, conversations, AgentsModule),
        BrainstormApiModule.withImports(executor, brainstorms, AgentsModule, CredentialsModule),
        McpClientModule.withRequestSigners(CredentialsModule),
        CredentialsApiModule.withNamers(namers),
        ModelsApiModule.withNamers(models, namers),
        GenerationModule.withImports(workflows, models),
        FilesApiModule,
        A2aServerModule.withImports(executor, push, RevisionClaimModule),
        gateway,
      ],
      providers: [
        GrpcServer,
        TaskRecovery,
        LeftReplicas,
        CancelPoller,
        TaskPurge,
        TaskPurgeJob,
        CommitForgetJob,
        CountFoldingJob,
        { provide: APP_PIPE, useClass: ApiValidationPipe },
        { provide: APP_FILTER, useFactory: () => new ProblemFilter(INPUT_REASONS) },
      ],
    };
  }
}
