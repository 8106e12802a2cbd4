import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { A2aServerModule, GrpcServer } from '#libs/a2a-server';
import { ACCESS_MIGRATIONS, AccessModule } from '#libs/access';
import { AgentCatalog, ChildEndings, ExecutorModule, NodeTypes, type ServedAgent, TaskRecovery } from '#libs/executor';
import { HttpModule, SIGNING_MIGRATIONS } from '#libs/http';
import { JOB_MIGRATIONS, JobsModule } from '#libs/jobs';
import { ConfiguredModelsModule, Models } from '#libs/models';
import { AgentMemory, AgentNode, BuiltInTools, NodeTypeRegistry, ScriptNode, ToolRegistry } from '#libs/nodes';
import { OutboundModule } from '#libs/outbound';
import { PostgresModule, SecretBox } from '#libs/postgres';
import { PUSH_MIGRATIONS, PushModule } from '#libs/push';
import { AppConfig, ServiceModule } from '#libs/service';
import { TASK_MIGRATIONS, TasksModule, TaskStore } from '#libs/tasks';
import { TracingModule } from '#libs/tracing';
import { OrderNode } from './order/order-node.js';
import { RefusalFilter } from './refusal-filter.js';
import { SingleAgentCatalog } from './single-agent-catalog.js';

/** Services from which a process makes its agent. */
export interface ProgramServices {
  types: NodeTypes;
  /** Models, or `undefined` if no endpoint is configured: rules answer then, and not the echo model. */
  models: Models | undefined;
  secrets: SecretBox;
}

/** Creates the one agent of a process. */
export type AgentMaker = (services: ProgramServices) => ServedAgent;

@Module({})
class CatalogModule {
  static forAgent(make: AgentMaker): DynamicModule {
    return {
      module: CatalogModule,
      imports: [ConfiguredModelsModule, TasksModule],
      providers: [
        { provide: NodeTypes, inject: [AppConfig, Models, TaskStore], useFactory: nodeTypes },
        {
          provide: AgentCatalog,
          inject: [NodeTypes, AppConfig, Models, SecretBox],
          useFactory: (types: NodeTypes, config: AppConfig, models: Models, secrets: SecretBox) =>
            new SingleAgentCatalog(make({ types, models: realModels(config, models), secrets })),
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

/** Module of a stand-alone agent. */
@Module({})
export class AgentModule {
  static forAgent(config: AppConfig, make: AgentMaker): DynamicModule {
    const catalog = CatalogModule.forAgent(make);
    const executor = { module: ExecutorModule, imports: [catalog], providers: [ChildEndings], exports: [catalog] };
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
        A2aServerModule.withImports(executor, PushModule.withoutApi(TasksModule)),
      ],
      providers: [GrpcServer, TaskRecovery, { provide: APP_FILTER, useClass: RefusalFilter }],
    };
  }
}

function nodeTypes(config: AppConfig, models: Models, tasks: TaskStore): NodeTypes {
  const tools = new BuiltInTools(new ToolRegistry([]));
  const agent = new AgentNode({ models, tools, memory: new AgentMemory(tasks) });
  return new NodeTypeRegistry([new ScriptNode(), agent, new OrderNode(realModels(config, models))]);
}

function realModels({ llm }: AppConfig, models: Models): Models | undefined {
  return llm.baseUrl === undefined ? undefined : models;
}
