import { answers, holds } from './fake-behaviour.js';
import { FakeLlm } from './fake-llm.js';
import type { Stage } from './stage.js';
import { echo, input, linear, textOf, unique, type Workflow, type WorkflowNode } from './workflow.js';

/** Outcome of a conversation whose workflow was saved again before the requester's turn. */
export interface RevisedTalk {
  outcome: unknown;
  /** System texts of the requester's turns. */
  prompts: string[];
}

/**
 * Lets a node of the first revision start a conversation by a tool, and saves the second revision before the node's
 * next turn.
 * @param again nodes of the second revision, besides its input
 */
export async function revisedTalk(
  stage: Pick<Stage, 'api' | 'defer' | 'fake'>,
  again: (poet: WorkflowNode) => WorkflowNode[],
): Promise<RevisedTalk> {
  const b = await stage.fake({ name: 'b', streaming: true });
  b.next(holds('B1')).always(answers('B2'));
  const llm = await FakeLlm.start();
  stage.defer(() => llm.stop());
  const model = unique('revised');
  await stage.api.call('POST', '/models', { name: model, provider: 'openai-compatible', model, baseUrl: llm.url });
  const prompts: string[] = [];
  llm.answer = ({ messages }) => {
    const said = messages as unknown as { role: string; content: string }[];
    const system = said.find(({ role }) => role === 'system')?.content ?? '';
    if (!system.includes('This is turn')) {
      const result = said.find(({ role }) => role === 'tool')?.content;
      return result ?? { toolCalls: [{ id: 'call_1', name: 'agent__b', args: { message: 'hello' } }] };
    }
    prompts.push(system.split('\n')[0] ?? '');
    return 'P1';
  };
  const name = unique('revised_talk');
  const poet = (system_prompt: string): WorkflowNode =>
    echo('poet', { model, system_prompt, tools: [{ agent: b.url, name: 'b', talk: { maxTurns: 2 } }] });
  const workflow = (...nodes: WorkflowNode[]): Workflow => linear(name, input('in'), ...nodes);
  await stage.api.save(workflow(poet('I am the first.')));
  const runId = await stage.api.start(name, { in: 'go' });
  await b.sent();
  await stage.api.call('PUT', `/workflows/${name}`, workflow(...again(poet('I am the second.'))));
  b.release();
  const run = await stage.api.ended(runId);
  return { outcome: JSON.parse(textOf(run.result) ?? '{}').outcome, prompts };
}
