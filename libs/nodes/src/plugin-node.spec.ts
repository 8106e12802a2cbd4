import { defineNode, defineTool, Failure, type Json } from '#libs/agent-sdk';
import { PluginNode, PluginTool } from './plugins.js';
import { TaskDriver } from './testing/task-driver.js';

const sealer = { seal: (secret: string) => secret, open: (sealed: string) => sealed };

const repeat = new PluginNode(
  defineNode<{ times: number }>({
    type: 'repeat',
    description: 'Says its text again and again.',
    configSchema: {
      type: 'object',
      properties: { times: { type: 'integer', minimum: 1, description: 'How often' } },
      required: ['times'],
      additionalProperties: false,
    },
    recovery: 'restart',
    run: async ({ text, config, node }) => `${node}: ${text.repeat(config.times)}`,
  }),
  sealer,
);

describe('a node type of a plugin', () => {
  it('describes its config, with the text and the data that nodes are sent', () => {
    expect(repeat.configSchema).toMatchObject({ description: 'Says its text again and again.', required: ['times'] });
    expect(Object.keys(repeat.configSchema.properties)).toEqual(['prompt', 'data', 'times']);
  });

  it.each([
    [{ times: 2 }, []],
    [{ times: 2, prompt: 'x', description: 'y' }, []],
    [{ times: 0 }, [{ path: 'config.times', detail: 'repeat: must be >= 1' }]],
    [{ times: 1, much: 1 }, [{ path: 'config', detail: 'repeat: must NOT have additional properties: "much"' }]],
    [{}, [{ path: 'config', detail: "repeat: must have required property 'times'" }]],
  ])('holds a config to its schema: %j', (config, problems) => {
    expect(repeat.findProblems({ id: 'r', type: 'repeat', config })).toEqual(problems);
  });

  it('needs no config', () => {
    const bare = new PluginNode(
      defineNode({ type: 'bare', configSchema: {}, recovery: 'fail', run: async () => 1 }),
      sealer,
    );
    expect(bare.configSchema).toMatchObject({ type: 'object', properties: { prompt: {}, data: {} } });
    expect(bare.findProblems({ id: 'b', type: 'bare', config: {} })).toEqual([]);
  });

  it('answers a Message with what it returns', async () => {
    const config = { times: 2 };
    const executor = repeat.createExecutor({ id: 'r', type: 'repeat', config });
    expect([executor.recovery, executor.declares]).toEqual(['restart', { does: 'Says its text again and again.' }]);
    const driver = new TaskDriver(executor, 'ab');
    await driver.run();
    expect(driver.task.artifacts).toMatchObject([{ artifactId: 'r', name: 'r', parts: [{ text: 'r: abab' }] }]);
  });
});

describe('a tool of a plugin', () => {
  const tool = (run: (args: { a: number }) => Json, more = {}): PluginTool =>
    new PluginTool(
      defineTool({
        name: 'twice',
        description: 'Twice a number',
        inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
        run: run as never,
        ...more,
      }),
    );
  const signal = new AbortController().signal;

  it('gives JSON', async () => {
    expect(await tool(({ a }) => a * 2).runTool({ a: 2 }, { signal })).toBe(4);
    expect(await tool((() => undefined) as never).runTool({}, { signal })).toBeNull();
  });

  it.each([
    [{}, false],
    [{ readOnly: true }, true],
    [{ idempotent: true }, true],
  ])('%j: is repeated after a crash: %s', (more, repeatable) => {
    expect(tool(() => 1, more).repeatable).toBe(repeatable);
  });

  it('tells callers the words of a Failure, and of no other error', async () => {
    const failing = (error: Error) =>
      tool(() => {
        throw error;
      });
    await expect(failing(new Failure('sold out')).runTool({}, { signal })).rejects.toThrow('sold out');
    await expect(failing(new Error('secret')).runTool({}, { signal })).rejects.toThrow('the tool "twice" failed');
  });
});
