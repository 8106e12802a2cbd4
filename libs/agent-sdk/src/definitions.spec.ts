import { type AgentDefinition, defineAgent, isDefinedAgent } from './agent.js';
import { onFact } from './facts.js';
import { Failure, isFailure } from './failure.js';
import { defineNode, defineTool, pluginKind } from './plugin-definitions.js';

const run = async (): Promise<string> => 'done';
const schema = { type: 'object' as const, properties: {} };
const node = { type: 'sum', configSchema: schema, recovery: 'fail' as const, run };
const tool = { name: 'sum', description: 'Adds', inputSchema: schema, run };

describe('definitions', () => {
  it.each([
    [defineAgent, { name: 'a', run }, { name: 'a b' }, 'defineAgent: name must be 1 to 64 letters'],
    [defineAgent, { name: 'a', run }, { run: undefined }, 'defineAgent: run must be a function'],
    [defineNode, node, { type: '' }, 'defineNode: type must be 1 to 64 letters'],
    [
      defineNode,
      node,
      { configSchema: { type: 'array' } },
      'defineNode sum: configSchema must be the JSON Schema of an object',
    ],
    [defineNode, node, { recovery: 'retry' }, 'defineNode sum: recovery must be restart or fail'],
    [defineNode, node, { run: 'x' }, 'defineNode sum: run must be a function'],
    [defineTool, tool, { name: 5 }, 'defineTool: name must be 1 to 64 letters'],
    [defineTool, tool, { description: '' }, 'defineTool sum: description must be a text'],
    [defineTool, tool, { inputSchema: [] }, 'defineTool sum: inputSchema must be the JSON Schema of an object'],
    [defineTool, tool, { run: undefined }, 'defineTool sum: run must be a function'],
  ])('%p: %j with %j is refused by name', (define, whole, wrong, sentence) => {
    const made = define as (definition: object) => unknown;
    expect(() => made(whole)).not.toThrow();
    expect(() => made({ ...whole, ...wrong })).toThrow(sentence);
  });

  it('of handlers of facts are refused where there is no such fact, or no function', () => {
    const wrong = onFact as (name: string, handle: unknown) => unknown;
    expect(() => wrong('task.gone', run)).toThrow('onFact: name must be one of task.settled, ');
    expect(() => wrong('run.failed', 3)).toThrow('onFact run.failed: handler must be a function');
    expect(pluginKind(onFact('run.failed', run))).toBe('fact');
  });

  it('are known by what they are, and leave functions what they belong to', async () => {
    class Greeting implements AgentDefinition {
      readonly name = 'greeting';
      private readonly word = 'hello';
      async run(): Promise<string> {
        return this.word;
      }
    }
    const greeting = new Greeting();
    const agent = defineAgent(greeting);
    expect(await agent.run({} as never)).toBe('hello');
    expect([agent, greeting, undefined, 3].map(isDefinedAgent)).toEqual([true, false, false, false]);
    expect([defineNode(node), defineTool(tool), tool, null].map(pluginKind)).toEqual([
      'node',
      'tool',
      undefined,
      undefined,
    ]);
    expect([new Failure('x'), new Error('x'), 'x'].map(isFailure)).toEqual([true, false, false]);
  });
});
