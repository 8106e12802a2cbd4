import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { A2aServerModule, GrpcServer } from '#libs/a2a-server';
import { ACCESS_MIGRATIONS, AccessModule } from '#libs/access';
import type { Role } from '#libs/brainstorm';
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
import { AgentNode, EchoLlm, type LlmProvider, NodeTypeRegistry, OpenAiLlm, ScriptNode } from '#libs/nodes';
import { OutboundHttp, OutboundModule } from '#libs/outbound';
import { PostgresModule } from '#libs/postgres';
import { PUSH_MIGRATIONS, PushModule } from '#libs/push';
import { AppConfig, ServiceModule } from '#libs/service';
import { TASK_MIGRATIONS, TasksModule } from '#libs/tasks';
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
      providers: [
        { provide: NodeTypes, inject: [AppConfig, OutboundHttp], useFactory: nodeTypes },
        {
          provide: AgentCatalog,
          inject: [NodeTypes, AppConfig, OutboundHttp],
          useFactory: (types: NodeTypes, config: AppConfig, outbound: OutboundHttp) =>
            catalogOf(wanted, wanted.role ? roleAgent(wanted.role, config, outbound) : types.executor(node)),
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

function nodeTypes(config: AppConfig, outbound: OutboundHttp): NodeTypes {
  const model = modelOf(config, outbound);
  const order = new OrderNode(config.llm.baseUrl === undefined ? undefined : model);
  return new NodeTypeRegistry([new ScriptNode(), new AgentNode(model), order]);
}

/** Without an endpoint rules answer, not the model that repeats what it hears. */
function roleAgent(role: Role, config: AppConfig, outbound: OutboundHttp): AgentExecutor {
  return new RoleAgent(role, config.llm.baseUrl === undefined ? undefined : modelOf(config, outbound));
}

function modelOf({ llm }: AppConfig, outbound: OutboundHttp): LlmProvider {
  if (llm.baseUrl === undefined) return new EchoLlm();
  // The operator named the endpoint: it may be in a private network, or on this machine.
  const fetch = outbound.trusting(llm.baseUrl);
  return new OpenAiLlm({ baseUrl: llm.baseUrl, apiKey: llm.apiKey, model: llm.model, fetch });
}
