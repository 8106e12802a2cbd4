import { type ArgumentsHost, Catch, type DynamicModule, type ExceptionFilter, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import { A2aServerModule, GrpcServer } from '#libs/a2a-server';
import { ACCESS_MIGRATIONS, AccessModule } from '#libs/access';
import { AgentCatalog, NodeTypes, type ServedAgent, UnknownAgent } from '#libs/agents';
import { OutboundModule } from '#libs/http-client';
import { HttpModule, SIGNING_MIGRATIONS } from '#libs/http-server';
import { JOB_MIGRATIONS, JobsModule } from '#libs/job-queue';
import { ConfiguredModelsModule, Models } from '#libs/models';
import { AgentMemory, AgentNode, BuiltInTools, NodeTypeRegistry, ScriptNode, ToolRegistry } from '#libs/nodes';
import { PostgresModule, SecretBox } from '#libs/postgres';
import { A2AError } from '#libs/protocol';
import { PUSH_MIGRATIONS } from '#libs/push';
import { AppConfig, ServiceModule } from '#libs/service';
import { TASK_MIGRATIONS, TasksModule, TaskStore } from '#libs/tasks';
import { TracingModule } from '#libs/tracing';
import { OrderNode } from './order-node.js';

/**
 * Converts an A2AError of any route other than the A2A routes to an HTTP response with the error's status and message.
 * The A2A routes convert their errors themselves, to the form of their protocol binding.
 */
@Catch(A2AError)
class RefusalFilter implements ExceptionFilter<A2AError> {
  catch({ status, message }: A2AError, host: ArgumentsHost): void {
    void host.switchToHttp().getResponse<FastifyReply>().status(status).send({ statusCode: status, message });
  }
}

/** Catalog of a process that serves a single agent, at the A2A root (the empty path). */
class SingleAgentCatalog extends AgentCatalog {
  constructor(private readonly agent: ServedAgent) {
    super();
  }

  override resolveAgent(path: string): Promise<ServedAgent> {
    if (path === '') return Promise.resolve(this.agent);
    return Promise.reject(new UnknownAgent('agent not found', 'AGENT_NOT_FOUND', { path }));
  }

  /** Returns the only agent. A skill that the Message requests is not looked at here: the agent itself may read it. */
  override routeMessage(agent: ServedAgent): Promise<ServedAgent> {
    return Promise.resolve(agent);
  }

  override listAgents(limit: number, pageToken?: string): Promise<{ agents: ServedAgent[]; nextPageToken: string }> {
    const agents = pageToken === undefined || pageToken === '' ? [this.agent] : [];
    return Promise.resolve({ agents: agents.slice(0, limit), nextPageToken: '' });
  }
}

/** Services that an AgentMaker receives, to create the agent of a process with them. */
interface ProgramServices {
  types: NodeTypes;
  /**
   * Models; `undefined` if no model endpoint is configured. An agent for brainstorms (`--role`) or café orders
   * (`--order`) then works by fixed rules, because the built-in model `echo` only repeats its input.
   */
  models: Models | undefined;
  secrets: SecretBox;
}

/** Creates the one agent of a process. */
export type AgentMaker = (services: ProgramServices) => ServedAgent;

/** Provides the catalog with the single agent to all modules. */
@Module({})
class CatalogModule {
  static forAgent(make: AgentMaker): DynamicModule {
    return {
      module: CatalogModule,
      global: true,
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
@Module({
  providers: [GrpcServer, { provide: APP_FILTER, useClass: RefusalFilter }],
})
export class AgentModule {
  static forAgent(config: AppConfig, make: AgentMaker): DynamicModule {
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
        A2aServerModule,
        CatalogModule.forAgent(make),
      ],
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
