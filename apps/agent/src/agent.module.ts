import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { A2aServerModule, GrpcServer } from '#libs/a2a-server';
import { ACCESS_MIGRATIONS, AccessModule } from '#libs/access';
import {
  AgentCatalog,
  type AgentExecutor,
  ExecutorModule,
  type NodeSpec,
  NodeTypes,
  TaskRecovery,
} from '#libs/executor';
import { HttpModule, SIGNING_MIGRATIONS } from '#libs/http';
import { JOB_MIGRATIONS, JobsModule } from '#libs/jobs';
import { ConfiguredModelsModule, Models } from '#libs/models';
import { AgentMemory, AgentNode, BuiltInTools, NodeTypeRegistry, ScriptNode, ToolRegistry } from '#libs/nodes';
import { OutboundModule } from '#libs/outbound';
import { PostgresModule } from '#libs/postgres';
import { PUSH_MIGRATIONS, PushModule } from '#libs/push';
import { AppConfig, ServiceModule } from '#libs/service';
import { TASK_MIGRATIONS, TasksModule, TaskStore } from '#libs/tasks';
import { TracingModule } from '#libs/tracing';
import type { AgentArguments } from './arguments.js';
import { CallLog } from './call-log.js';
import { LoggedExecutor } from './logged-executor.js';
import { OrderNode } from './order/order-node.js';
import { RoleAgent } from './role-agent.js';
import { RefusalFilter } from './refusal-filter.js';
import { servedAgent } from './served-agent.js';
import { SingleAgentCatalog } from './single-agent-catalog.js';

/** The one agent of the process. */
@Module({})
class CatalogModule {
  static with(wanted: AgentArguments, node: NodeSpec): DynamicModule {
    return {
      module: CatalogModule,
      imports: [ConfiguredModelsModule, TasksModule],
      providers: [
        { provide: NodeTypes, inject: [AppConfig, Models, TaskStore], useFactory: nodeTypes },
        {
          provide: AgentCatalog,
          inject: [NodeTypes, AppConfig, Models],
          useFactory: (types: NodeTypes, config: AppConfig, models: Models) =>
            catalogOf(
              wanted,
              wanted.role ? new RoleAgent(wanted.role, realModels(config, models)) : types.executor(node),
            ),
        },
      ],
      exports: [AgentCatalog],
    };
  }
}

const MIGRATIONS = [
  ...JOB_MIGRATIONS,
  ...SIGNING_MIGRATIONS,
  ...TASK_MIGRATIONS,
  ...PUSH_MIGRATIONS,
  ...ACCESS_MIGRATIONS,
];

/** What a stand-alone agent is made of. */
@Module({})
export class AgentModule {
  static with(config: AppConfig, wanted: AgentArguments, node: NodeSpec): DynamicModule {
    const catalog = CatalogModule.with(wanted, node);
    const executor = { module: ExecutorModule, imports: [catalog], exports: [catalog] };
    return {
      module: AgentModule,
      imports: [
        ServiceModule.forRoot(config),
        PostgresModule.forRoot({ migrations: MIGRATIONS }),
        JobsModule,
        OutboundModule,
        TracingModule,
        HttpModule,
        AccessModule,
        executor,
        A2aServerModule.with(executor, PushModule.alone(TasksModule)),
      ],
      providers: [GrpcServer, TaskRecovery, { provide: APP_FILTER, useClass: RefusalFilter }],
    };
  }
}

function catalogOf(wanted: AgentArguments, executor: AgentExecutor): AgentCatalog {
  return new SingleAgentCatalog(servedAgent(wanted, new LoggedExecutor(executor, new CallLog(wanted.callLog))));
}

function nodeTypes(config: AppConfig, models: Models, tasks: TaskStore): NodeTypes {
  const tools = new BuiltInTools(new ToolRegistry([]));
  const agent = new AgentNode({ models, tools, memory: new AgentMemory(tasks) });
  return new NodeTypeRegistry([new ScriptNode(), agent, new OrderNode(realModels(config, models))]);
}

/** Without an endpoint rules answer, not the model that repeats what it hears. */
function realModels({ llm }: AppConfig, models: Models): Models | undefined {
  return llm.baseUrl === undefined ? undefined : models;
}
