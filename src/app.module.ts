import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { A2aServerModule, GrpcServer } from '#libs/a2a-server';
import { ACCESS_MIGRATIONS, AccessApiModule, AccessModule } from '#libs/access';
import { BRAINSTORM_MIGRATIONS, BrainstormApiModule, BrainstormModule, BrainstormNode } from '#libs/brainstorm';
import { REMOTE_AGENT_MIGRATIONS } from '#libs/remote-agents';
import {
  CONVERSATION_MIGRATIONS,
  ConversationAgentModule,
  ConversationNode,
  ConversationsModule,
} from '#libs/conversations';
import { CREDENTIAL_MIGRATIONS, CredentialsApiModule, CredentialsModule } from '#libs/credentials';
import { EventGatewayModule } from '#libs/event-gateway';
import {
  CancelPoller,
  ChildEndings,
  ExecutorModule,
  LeftReplicas,
  RevisionClaimModule,
  TaskRecovery,
} from '#libs/executor';
import { FILE_MIGRATIONS, FilesApiModule, FilesModule } from '#libs/files';
import { GenerationModule } from '#libs/generation';
import { ApiValidationPipe, HttpModule, ProblemFilter, SIGNING_MIGRATIONS } from '#libs/http';
import { JOB_MIGRATIONS, JobsModule } from '#libs/jobs';
import { MCP_MIGRATIONS, McpClientModule } from '#libs/mcp-client';
import { MODEL_MIGRATIONS, ModelsApiModule, ModelsModule } from '#libs/models';
import { NodesModule } from '#libs/nodes';
import {
  ChildRunNode,
  INPUT_REASONS,
  ORCHESTRATOR_MIGRATIONS,
  OrchestratorModule,
  RunAgentsModule,
  runProjection,
  WorkflowModule,
} from '#libs/orchestrator';
import { OutboundModule } from '#libs/outbound';
import { PostgresModule } from '#libs/postgres';
import { PUSH_MIGRATIONS, PushModule, PUSHES_UNDER_WAY } from '#libs/push';
import { type AppConfig, ServiceModule } from '#libs/service';
import { TracingModule } from '#libs/tracing';
import {
  CommitForgetJob,
  CountFoldingJob,
  TASK_MIGRATIONS,
  TaskPurge,
  TaskPurgeJob,
  TASKS_UNDER_WAY,
  TasksModule,
} from '#libs/tasks';
import { AgentsModule } from './agents.module.js';
import { ToolServersModule } from './tool-servers.module.js';
import { NamersModule } from './workflow-namers.js';

/** Root module of the service. */
@Module({})
export class AppModule {
  static forConfig(config: AppConfig): DynamicModule {
    const migrations = [
      ...JOB_MIGRATIONS,
      ...SIGNING_MIGRATIONS,
      ...TASK_MIGRATIONS,
      ...ORCHESTRATOR_MIGRATIONS,
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
    const workflows = WorkflowModule.withAgents(nodes, runs, AgentsModule, TasksModule);
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
        OrchestratorModule.withExecutor(executor, ToolServersModule),
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
