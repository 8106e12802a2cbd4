import { Global, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AgentDirectory } from '#libs/a2a-client';
import { CallChains, NodeTypes } from '#libs/agents';
import { OutboundHttp } from '#libs/http-client';
import { ServiceAddress } from '#libs/http-server';
import { ConfiguredModelsModule, Models, ModelsModule } from '#libs/models';
import { SecretBox } from '#libs/postgres';
import { AppConfig, Facts, loadConfig, Metrics } from '#libs/service';
import { DailyBudgets, RunBudgets, TasksModule, TaskStore } from '#libs/tasks';
import { NodesModule, OTHER_NODE_TYPES } from './nodes.module.js';
import { ToolRegistry } from './tools/tool-registry.js';

const STORED = [TaskStore, RunBudgets, DailyBudgets];

@Module({ providers: STORED.map((provide) => ({ provide, useValue: {} })), exports: STORED })
class StoredTasks {}

async function nodesWith(environment: Record<string, string>) {
  const config = loadConfig({ HOST: '127.0.0.1', ...environment });
  const ports = [
    { provide: SecretBox, useValue: new SecretBox([Buffer.alloc(32)]) },
    { provide: ServiceAddress, useValue: {} },
    { provide: AgentDirectory, useValue: {} },
    { provide: OTHER_NODE_TYPES, useValue: [] },
  ];
  const ground = [{ provide: AppConfig, useValue: config }, Facts, Metrics, OutboundHttp, ...ports];
  @Global()
  @Module({ providers: ground, exports: ground })
  class Ground {}
  return Test.createTestingModule({ imports: [Ground, NodesModule] })
    .overrideModule(ModelsModule)
    .useModule(ConfiguredModelsModule)
    .overrideModule(TasksModule)
    .useModule(StoredTasks)
    .overrideProvider(CallChains)
    .useValue(new CallChains(Buffer.from('a secret')))
    .compile();
}

describe('NodesModule', () => {
  it('knows the node types of the contract and the built-in tools', async () => {
    const module = await nodesWith({});
    expect(module.get(NodeTypes).names).toEqual([
      'input',
      'agent',
      'tool',
      'output',
      'external',
      'script',
      'set',
      'wait',
      'human',
    ]);
    expect(module.get(ToolRegistry).names).toEqual(['current_time', 'calculator', 'http_get']);
  });

  it('echoes without an LLM endpoint, and asks the endpoint where there is one', async () => {
    const model = async (environment: Record<string, string>) =>
      (await nodesWith(environment)).get(Models).defaultModel.name;
    expect(await model({})).toBe('echo');
    expect(await model({ LLM_BASE_URL: 'http://127.0.0.1:1/v1', LLM_MODEL: 'small' })).toBe('small');
  });
});
