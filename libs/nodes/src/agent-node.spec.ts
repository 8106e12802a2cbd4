import { ModelError } from '#libs/models';
import { AgentNode } from './agent-node.js';
import { FixedModels, SayingModel } from './testing/fixed-models.js';
import { artifactParts, finalText, outline, played, taskWith, turn } from './testing/turn.js';

describe('agent nodes', () => {
  const node = { id: 'a', type: 'agent', config: { system_prompt: 'be brief' } };

  it('echoes without an endpoint and tells the steps of its work', async () => {
    const events = await played(new AgentNode(new FixedModels()).executor(node), turn([{ data: [1] }, { text: 'hi' }]));
    expect(outline(events)).toEqual(['working', 'model.request', 'model.response', 'artifact', 'completed']);
    expect(artifactParts(events)).toEqual([{ data: [1] }, { text: 'hi', mediaType: 'text/plain' }]);
    expect(events[1]).toMatchObject({
      statusUpdate: {
        metadata: { 'parley/event': { payload: { model: 'echo', prompt: 'hi', system_prompt: 'be brief' } } },
      },
    });
  });

  it('I4 gives the model the whole conversation, then the Message to answer', async () => {
    const model = new SayingModel('answer');
    const events = await played(
      new AgentNode(new FixedModels(model)).executor(node),
      turn('again', { task: taskWith('hi', 'hello') }),
    );
    expect(model.calls[0]?.messages.map((it) => [it.role, 'parts' in it ? it.parts[0]?.text : ''])).toEqual([
      ['system', 'be brief'],
      ['user', 'hi'],
      ['assistant', 'hello'],
      ['user', 'again'],
    ]);
    expect(outline(events)).toEqual(['model.request', 'model.response', 'artifact', 'completed']);
    expect(events[1]).toMatchObject({
      statusUpdate: {
        metadata: {
          'parley/event': {
            payload: { model: 'default-model', output: 'answer', usage: { inputTokens: 1, outputTokens: 2 } },
          },
        },
      },
    });
  });

  it('B11 fails with one sentence where the model cannot answer, and throws what callers must not see', async () => {
    const model = new SayingModel('answer');
    model.say = new ModelError('model "m" gave no answer: HTTP 401');
    const events = await played(new AgentNode(new FixedModels(model)).executor(node), turn('x'));
    expect(outline(events)).toEqual(['working', 'model.request', 'failed']);
    expect(finalText(events)).toBe('Error: model "m" gave no answer: HTTP 401');
    model.say = new TypeError('internal');
    await expect(played(new AgentNode(new FixedModels(model)).executor(node), turn('x'))).rejects.toThrow(TypeError);
  });

  it('names what is wrong with its config', () => {
    const problems = new AgentNode(new FixedModels()).problems({
      id: 'a',
      type: 'agent',
      config: { prompt: 1, system_prompt: [], model: {} },
    });
    expect(problems).toEqual(
      ['prompt', 'system_prompt', 'model'].map((key) => `agent node "a": ${key} must be a string`),
    );
  });
});
