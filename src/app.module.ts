import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { A2aServerModule, GrpcServer, InProcessHandler } from '#libs/a2a-server';
import { ACCESS_MIGRATIONS, AccessApiModule, AccessModule } from '#libs/access';
import { BRAINSTORM_MIGRATIONS, BrainstormApiModule } from '#libs/brainstorm';
import { CONVERSATION_MIGRATIONS, ConversationsModule } from '#libs/conversations';
import { CREDENTIAL_MIGRATIONS, CredentialsApiModule } from '#libs/credentials';
import { EventGatewayModule } from '#libs/event-gateway';
import { CancelPoller, ExecutorModule, LeftReplicas } from '#libs/executor';
import { FILE_MIGRATIONS, FilesApiModule } from '#libs/files';
import { GenerationModule } from '#libs/generation';
import { OutboundModule } from '#libs/http-client';
import { ApiValidationPipe, HttpModule, ProblemFilter, SIGNING_MIGRATIONS } from '#libs/http-server';
import { JOB_MIGRATIONS, JobsModule } from '#libs/job-queue';
import { LimitsModule } from '#libs/limits';
import { MCP_MIGRATIONS, McpClientModule } from '#libs/mcp-client';
import { MODEL_MIGRATIONS, ModelsApiModule } from '#libs/models';
import { PostgresModule } from '#libs/postgres';
import { PUSH_MIGRATIONS, PUSHES_UNDER_WAY, PushApiModule } from '#libs/push';
import { REMOTE_AGENT_MIGRATIONS, RemoteAgentsModule } from '#libs/remote-agents';
import { REGISTERED_AGENT_MIGRATIONS, RegisteredAgentsModule } from '#libs/registered-agents';
import { SCHEDULE_MIGRATIONS, SchedulesModule } from '#libs/schedules';
import { type AppConfig, ServiceModule } from '#libs/service';
import { SignInModule } from '#libs/sign-in';
import {
  CommitForgetJob,
  CountFoldingJob,
  TASK_MIGRATIONS,
  TaskPurge,
  TaskPurgeJob,
  TASKS_UNDER_WAY,
  UsageMergeJob,
} from '#libs/tasks';
import { TracingModule } from '#libs/tracing';
import { TRIGGER_MIGRATIONS, TriggersModule } from '#libs/triggers';
import { INPUT_REASONS } from '#libs/workflow-definition';
import { runProjection } from '#libs/workflow-engine';
import { WORKFLOW_MIGRATIONS, WorkflowsModule } from '#libs/workflows';
import { LocalHandler, PortsModule } from './ports.module.js';

const MIGRATIONS = [
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
  ...REGISTERED_AGENT_MIGRATIONS,
  ...SCHEDULE_MIGRATIONS,
  ...TRIGGER_MIGRATIONS,
];

/**
 * Root module of the service. The order of the imports is that of the paths in the OpenAPI document. PortsModule comes
 * before the modules that import PushModule, so that the handlers of plugins (PluginHandlers) are subscribed before the
 * first delivery.
 */
@Module({
  providers: [
    GrpcServer,
    LeftReplicas,
    CancelPoller,
    TaskPurge,
    TaskPurgeJob,
    CommitForgetJob,
    UsageMergeJob,
    CountFoldingJob,
    { provide: APP_PIPE, useClass: ApiValidationPipe },
    { provide: APP_FILTER, useFactory: () => new ProblemFilter(INPUT_REASONS) },
  ],
})
export class AppModule {
  constructor(local: LocalHandler, handler: InProcessHandler) {
    local.set(handler);
  }

  static forConfig(config: AppConfig): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ServiceModule.forRoot(config),
        PostgresModule.forRoot({ migrations: MIGRATIONS, underWay: [TASKS_UNDER_WAY, PUSHES_UNDER_WAY] }),
        JobsModule,
        OutboundModule,
        TracingModule,
        HttpModule,
        AccessModule,
        PortsModule,
        ExecutorModule,
        AccessApiModule,
        SignInModule,
        WorkflowsModule,
        SchedulesModule,
        TriggersModule,
        ConversationsModule,
        BrainstormApiModule,
        McpClientModule,
        CredentialsApiModule,
        ModelsApiModule,
        LimitsModule,
        GenerationModule,
        FilesApiModule,
        A2aServerModule,
        EventGatewayModule.forStreams({ names: ['a2a', 'run', 'tool'], projections: [runProjection] }),
        RemoteAgentsModule,
        RegisteredAgentsModule,
        PushApiModule,
      ],
    };
  }
}
