import { BRAINSTORM_ENTRY, type RequestContext } from '#libs/agents';
import { STATE_SCHEMA } from '#libs/brainstorm';
import type { Model, ModelCall, ModelEvent, Models } from '#libs/models';
import { dataPart, firstData, firstText, type JsonObject, userMessage } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { RoleAgent } from './role-agent.js';

const STATE = {
  idea: 'A shared garden calendar',
  architecture: '',
  execution_plan: [],
  risks: [],
  assumptions: ['There is a garden'],
  open_questions: [],
  metrics: { confidence: 0 },
  meta: { iteration: 1, agents: [] },
};
const STEP = {
  title: 'Dig',
  description: 'Dig the first bed together with the neighbors on the first Sunday in March',
};
const LISTED = { ...STATE, execution_plan: ['Dig'], risks: ['Frost'] };
const BETTER = { ...STATE, execution_plan: [STEP], risks: [{ text: 'Frost', severity: 'High', resolved: false }] };

/**
 * Creates a model that gives these answers one after the other. @returns the model, and the calls that it has received
 */
function modelThat(answers: readonly unknown[]): { models: Models; calls: ModelCall[] } {
  const calls: ModelCall[] = [];
  const model: Model = {
    name: 'm',
    inputModes: ['text/plain'],
    async *streamAnswer(call): AsyncIterable<ModelEvent> {
      const answer = answers[calls.length];
      calls.push({ ...call, messages: [...call.messages] });
      yield { text: typeof answer === 'string' ? answer : JSON.stringify(answer) };
      yield { end: { reason: 'stop', usage: { inputTokens: 10, outputTokens: 5 } } };
    },
  };
  return { models: { findModel: async () => model } as unknown as Models, calls };
}

async function played(models: Models, systemPrompt = 'Build.'): Promise<TaskEvent[]> {
  const payload: JsonObject = { role: 'build', systemPrompt, llmConfig: {}, state: STATE };
  const context = {
    taskId: 't',
    contextId: 'c',
    recovered: 0,
    userMessage: userMessage([dataPart(payload)], { messageId: 'm-1' }),
    signal: new AbortController().signal,
  } as unknown as RequestContext;
  return Array.fromAsync(new RoleAgent('build', models).execute(context));
}

function stateOf(events: readonly TaskEvent[]): unknown {
  return events.flatMap((it) => ('artifactUpdate' in it ? [firstData(it.artifactUpdate.artifact.parts)] : []))[0];
}

function failureOf(events: readonly TaskEvent[]): string | undefined {
  const last = events.at(-1);
  if (!last || !('statusUpdate' in last)) return undefined;
  const { state, message } = last.statusUpdate.status;
  return state === 'TASK_STATE_FAILED' ? firstText(message?.parts ?? []) : undefined;
}

describe('RoleAgent with a model', () => {
  it('asks for the schema of the state and adds nothing to the prompt', async () => {
    const { models, calls } = modelThat([BETTER, BETTER]);
    await played(models);
    await played(models, `Build. ${JSON.stringify(STATE_SCHEMA)}`);
    expect(calls.map(({ output, isOutputDescribed }) => [output, isOutputDescribed])).toEqual([
      [STATE_SCHEMA, false],
      [STATE_SCHEMA, true],
    ]);
    expect(calls[0]?.messages).toEqual([
      { role: 'system', parts: [{ text: 'Build.', mediaType: 'text/plain' }] },
      { role: 'user', parts: [{ text: JSON.stringify(STATE), mediaType: 'text/plain' }] },
    ]);
  });

  it('sends a wrong answer back once, with its faults, and gives the mended state', async () => {
    const { models, calls } = modelThat([LISTED, `Here you are:\n\`\`\`json\n${JSON.stringify(BETTER)}\n\`\`\``]);
    const events = await played(models);
    expect(events).toHaveLength(3);
    expect(events[1]).toMatchObject({
      artifactUpdate: {
        artifact: {
          metadata: {
            [BRAINSTORM_ENTRY]: {
              repairs: [expect.stringContaining('output.execution_plan[0] must be an object')],
              usage: { inputTokens: 20, outputTokens: 10 },
            },
          },
        },
      },
    });
    expect(stateOf(events)).toEqual({ ...BETTER, risks: [{ text: 'Frost', severity: 'high', resolved: false }] });
    expect(calls[1]?.messages.slice(2)).toEqual([
      { role: 'assistant', parts: [expect.objectContaining({ text: JSON.stringify(LISTED) })] },
      { role: 'user', parts: [expect.objectContaining({ text: expect.stringContaining('output.risks[0] must be') })] },
    ]);
  });

  it('fails with the faults of both answers after two wrong ones', async () => {
    const { models, calls } = modelThat([LISTED, { ...BETTER, metrics: { confidence: '80%' } }]);
    const failure = failureOf(await played(models));
    expect(failure).toMatch(/^Error: the model's answer is not a state: output\.execution_plan\[0\] must be an object/);
    expect(failure).toContain('output.metrics.confidence must be a number');
    expect(calls).toHaveLength(2);
  });

  it.each<[string, unknown, string]>([
    ['no JSON', 'I would rather not.', 'output is not valid JSON'],
    [
      'a confidence in percent',
      { ...STATE, metrics: { confidence: '80%' } },
      'output.metrics.confidence must be a number',
    ],
    [
      '1,001 risks',
      { ...STATE, risks: Array(1001).fill({ text: 'Frost', severity: 'low', resolved: false }) },
      'output.risks must be at most 1000 entries',
    ],
  ])('tells the model what is wrong with %s', async (_, answer, fault) => {
    const { models, calls } = modelThat([answer, BETTER]);
    expect(failureOf(await played(models))).toBeUndefined();
    expect(calls[1]?.messages.at(-1)?.role === 'user' && JSON.stringify(calls[1]?.messages.at(-1))).toContain(fault);
  });

  it.each<[string, unknown]>([
    ['in a fence', `\`\`\`json\n${JSON.stringify(BETTER)}\n\`\`\``],
    ['after words', `Gladly. ${JSON.stringify(BETTER)}`],
    ['without lists that stay', { ...BETTER, assumptions: undefined, open_questions: undefined }],
    ['with a meta of its own', { ...BETTER, meta: 'mine' }],
  ])('takes a state %s without asking again', async (_, answer) => {
    const { models, calls } = modelThat([answer]);
    expect(stateOf(await played(models))).toMatchObject({ assumptions: STATE.assumptions, meta: STATE.meta });
    expect(calls).toHaveLength(1);
  });
});
