import { AgentNode } from './agent-node.js';
import { EchoLlm } from './llm/echo-llm.js';
import { type LlmAnswer, LlmProvider, type LlmRequest } from './llm/llm-provider.js';
import { NodeFailure } from './node-failure.js';
import { artifactParts, finalText, outline, played, taskWith, turn } from './testing/turn.js';

class RecordingLlm extends LlmProvider {
  seen: LlmRequest | undefined;
  modelFor(model: string | undefined): string {
    return model ?? 'default-model';
  }
  async answer(request: LlmRequest): Promise<LlmAnswer> {
    this.seen = request;
    return { parts: [{ text: 'answer' }], usage: { total_tokens: 3 } };
  }
}

describe('agent nodes', () => {
  const node = { id: 'a', type: 'agent', config: { system_prompt: 'be brief' } };

  it('echoes without an endpoint and tells the steps of its work', async () => {
    const events = await played(new AgentNode(new EchoLlm()).executor(node), turn([{ data: [1] }, { text: 'hi' }]));
    expect(outline(events)).toEqual(['working', 'model.request', 'model.response', 'artifact', 'completed']);
    expect(artifactParts(events)).toEqual([{ data: [1] }, { text: 'hi', mediaType: 'text/plain' }]);
    expect(events[1]).toMatchObject({
      statusUpdate: {
        metadata: { 'parley/event': { payload: { model: 'echo', prompt: 'hi', system_prompt: 'be brief' } } },
      },
    });
  });

  it('I4 gives the model the whole conversation, then the Message to answer', async () => {
    const llm = new RecordingLlm();
    const events = await played(new AgentNode(llm).executor(node), turn('again', { task: taskWith('hi', 'hello') }));
    expect(llm.seen?.messages.map(({ role, parts }) => [role, parts[0]?.text])).toEqual([
      ['system', 'be brief'],
      ['user', 'hi'],
      ['assistant', 'hello'],
      ['user', 'again'],
    ]);
    expect(outline(events)).toEqual(['model.request', 'model.response', 'artifact', 'completed']);
    expect(events[1]).toMatchObject({
      statusUpdate: {
        metadata: {
          'parley/event': { payload: { model: 'default-model', output: 'answer', usage: { total_tokens: 3 } } },
        },
      },
    });
  });

  it('B11 fails with one sentence where the model cannot answer, and throws what callers must not see', async () => {
    const llm = new RecordingLlm();
    llm.answer = async () => Promise.reject(new NodeFailure('model "m" gave no answer: HTTP 401'));
    const events = await played(new AgentNode(llm).executor(node), turn('x'));
    expect(outline(events)).toEqual(['working', 'model.request', 'failed']);
    expect(finalText(events)).toBe('Error: model "m" gave no answer: HTTP 401');
    llm.answer = async () => Promise.reject(new TypeError('internal'));
    await expect(played(new AgentNode(llm).executor(node), turn('x'))).rejects.toThrow(TypeError);
  });

  it('names what is wrong with its config', () => {
    const problems = new AgentNode(new EchoLlm()).problems({
      id: 'a',
      type: 'agent',
      config: { prompt: 1, system_prompt: [], model: {} },
    });
    expect(problems).toEqual(
      ['prompt', 'system_prompt', 'model'].map((key) => `agent node "a": ${key} must be a string`),
    );
  });
});
