import { ModelError } from '#libs/models';
import type { NodeEvent } from '../node-executor.js';
import { FakeModels, says } from '../testing/fake-models.js';
import { artifactParts, finalText, outline, played, taskWith, turn } from '../testing/turn.js';
import { Calculator } from '../tools/built-in-tools.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import { AgentNode } from './agent-node.js';
import { BuiltInTools } from './agent-tools.js';

const tools = new BuiltInTools(new ToolRegistry([new Calculator()]));

describe('agent nodes', () => {
  const node = { id: 'a', type: 'agent', config: { system_prompt: 'be brief' } };

  it('tells the steps of its work, and answers with all that the model made', async () => {
    const models = new FakeModels(() => [
      { part: { data: [1] } },
      { part: { text: 'hi' } },
      { end: { reason: 'stop' } },
    ]);
    const events = await played(
      new AgentNode({ models, tools }).createExecutor(node),
      turn([{ data: [1] }, { text: 'hi' }]),
    );
    expect(outline(events)).toEqual(['working', 'model.request', 'artifact', 'model.response', 'completed']);
    expect(artifactParts(events)).toEqual([{ data: [1] }, { text: 'hi', mediaType: 'text/plain' }]);
    expect(events.map(payloadOf)).toEqual([
      undefined,
      { model: 'default-model', step: 1 },
      undefined,
      { model: 'default-model', step: 1 },
      undefined,
    ]);
  });

  it('I4 gives the model the whole conversation, then the Message to answer', async () => {
    const models = new FakeModels();
    const executor = new AgentNode({ models, tools }).createExecutor(node);
    const events = await played(executor, turn('again', { task: taskWith('hi', 'hello') }));
    const said = models.calls[0]?.call.messages ?? [];
    expect(said.map((it) => [it.role, 'parts' in it ? it.parts[0]?.text : undefined])).toEqual([
      ['system', 'be brief'],
      ['user', 'hi'],
      ['assistant', 'hello'],
      ['user', 'again'],
    ]);
    expect(outline(events)).toEqual(['model.request', 'artifact', 'model.response', 'completed']);
  });

  it('B11 fails with one sentence where the model cannot answer, and throws what callers must not see', async () => {
    const models = new FakeModels(() => {
      throw new ModelError('model "m" gave no answer: HTTP 401', { status: 401 });
    });
    const executor = new AgentNode({ models, tools }).createExecutor(node);
    const events = await played(executor, turn('x'));
    expect(outline(events)).toEqual(['working', 'model.request', 'model.error', 'failed']);
    expect(finalText(events)).toBe('Error: model "m" gave no answer: HTTP 401');
    models.answer = () => {
      throw new TypeError('internal');
    };
    await expect(played(executor, turn('x'))).rejects.toThrow(TypeError);
  });

  it('names what is wrong with its config, and where', () => {
    const config = {
      prompt: 1,
      model: {},
      fallbacks: ['m', ''],
      tools: ['calculator', 'format_disk'],
      maxSteps: 0,
      budget: { tokens: 1.5 },
      onUncertain: 'hope',
    };
    const problems = new AgentNode({ models: new FakeModels(() => says('')), tools }).findProblems({
      id: 'a',
      type: 'agent',
      config,
    });
    const rule = 'must be one of calculator, or name tools of an MCP server as "server/glob"';
    expect(problems).toEqual(
      [
        ['prompt', 'must be a string'],
        ['model', 'must be a string'],
        ['fallbacks[1]', 'must name a model'],
        ['tools[1]', rule],
        ['maxSteps', 'must be a whole number from 1 to 100'],
        ['onUncertain', 'must be one of ask, fail, repeat'],
        ['budget.tokens', 'must be a whole number from 1 to 1000000000'],
      ].map(([key, said]) => ({ path: `config.${key}`, detail: `agent node "a": ${key} ${said}` })),
    );
  });
});

function payloadOf(event: NodeEvent): unknown {
  const note = 'statusUpdate' in event ? event.statusUpdate.metadata?.['parley/event'] : undefined;
  return (note as { payload?: unknown } | undefined)?.payload;
}
