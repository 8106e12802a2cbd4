import type { JsonObject, Part } from '../../libs/protocol/src/index.js';
import { keepMcpServer } from '../support/mcp-http-server.js';
import type { SseFrame } from '../support/sse.js';
import { until } from '../support/until.js';
import {
  echo,
  external,
  input,
  linear,
  output,
  type Run,
  type RunEvent,
  ruled,
  script,
  textOf,
  unique,
  type WorkflowNode,
} from '../support/workflow.js';
import type { InteropStage } from './interop-stage.js';

/** What Parley does in these tests: workflows and agents that call an agent, and workflows and nodes that are called. */
export class ParleySide {
  constructor(private readonly stage: InteropStage) {}

  /** A run in which an agent of Parley's own says `about …`, and another agent is told that. */
  told(agentUrl: string, topic = 'tea', config: JsonObject = {}): Promise<Run> {
    const nodes = [input('in'), echo('writer', { prompt: '{{in}}' }), external('x', agentUrl, config), output('out')];
    return this.stage.api.finish(linear(unique('told'), ...nodes), { in: topic });
  }

  /** The text of such a run. @throws Error with what it failed with */
  async answerOf(agentUrl: string): Promise<string | undefined> {
    const run = await this.told(agentUrl);
    if (run.status !== 'completed') throw new Error(`The run is ${run.status}: ${run.error?.message}`);
    return textOf(run.result);
  }

  /** A run that asks an agent: its id. */
  async asking(agentUrl: string, text = 'tea', ...before: WorkflowNode[]): Promise<string> {
    const { name } = await this.stage.api.save(linear(unique('asks'), input('in'), ...before, external('x', agentUrl)));
    return this.stage.api.start(name, { in: text });
  }

  /** The text of a run whose agent says something, which is told before `release`, and then the rest. */
  async readAsItComes(agentUrl: string, first: string, release: () => void, text?: string): Promise<string> {
    const runId = await this.asking(agentUrl, text);
    const events = await this.stage.api.events(runId);
    const told = ({ event, data }: SseFrame<RunEvent>): boolean =>
      event === 'done' || (event === 'node.progress' && JSON.stringify(data.payload).includes(first));
    const { event } = await events.find(told);
    release();
    const said = await this.endOf(runId);
    if (event === 'done') throw new Error(`Nothing of "${said}" was told before its end`);
    return said;
  }

  /** The text of a run whose agent asks something, so often, and is answered. */
  async answered(agentUrl: string, answer: (question: string) => Part, times = 1): Promise<string> {
    const runId = await this.asking(agentUrl, 'tea', echo('writer', { prompt: '{{in}}' }));
    let last = '';
    for (let time = 0; time < times; time += 1) {
      const question = await until(() => this.questionOf(runId, last), { what: 'a question' });
      const reply = await this.stage.api.call('POST', `/runs/${runId}/answers`, {
        node: 'x',
        parts: [answer(question)],
      });
      if (reply.status !== 202) throw new Error(`The answer was refused: ${reply.status} ${reply.text}`);
      last = question;
    }
    return this.endOf(runId);
  }

  /** What an agent of Parley's says whose model has the other agent as a tool, by way of a workflow and MCP. */
  async asATool(agentUrl: string, text = 'tea'): Promise<string | undefined> {
    const { api, parley, says } = this.stage;
    const tool = await api.save(linear(unique('tool'), input('in'), external('x', agentUrl), output('out')));
    const server = await keepMcpServer(api, { url: `${parley.url}/mcp/workflows/${tool.name}` });
    const topic = unique('topic');
    says.set(topic, { toolCalls: [{ id: 'call', name: `${server}__${tool.name}`, args: { in: text } }] });
    const agent = echo('agent', { prompt: '{{in}}', tools: [`${server}/*`] });
    const run = await api.finish(linear(unique('uses'), input('in'), agent, output('out')), { in: topic });
    if (run.status !== 'completed') throw new Error(`The run is ${run.status}: ${run.error?.message}`);
    return textOf(run.result);
  }

  /** What the agent of a run that is canceled says to that. */
  async canceled(agentUrl: string, begun: Promise<void>): Promise<string | undefined> {
    const runId = await this.asking(agentUrl, 'wait');
    await begun;
    const { body } = await this.stage.api.call<{ children: { outcome: string }[] }>('POST', `/runs/${runId}/cancel`);
    return body.children[0]?.outcome;
  }

  /** A workflow whose agent answers `about …`. */
  async answering(): Promise<string> {
    return this.saved(input('in'), echo('writer', { prompt: '{{in}}' }), output('out'));
  }

  /** An agent whose model says `one ` and, when it is let, `two`. */
  async telling(): Promise<{ base: string; text: string; release(): void }> {
    const released = Promise.withResolvers<void>();
    const text = unique('tell');
    this.stage.says.set(text, { text: ['one ', released.promise, 'two'] });
    const base = await this.saved(echo('writer'));
    return { base: `${base}/nodes/writer`, text, release: () => released.resolve() };
  }

  /** A node that asks `Which tea?`, and answers with what it was told then. */
  async curious(): Promise<string> {
    const asks = [{ when: { turn: 1 }, steps: [{ ask: 'Which tea?' }] }];
    const base = await this.saved(
      ruled('a', asks, [{ artifact: { parts: [{ text: '[{{text}}]' }] } }, { complete: true }]),
    );
    return `${base}/nodes/a`;
  }

  /** A node that works for a minute, and what has become of its Task. */
  async slow(): Promise<{ base: string; states(): Promise<string[]> }> {
    const base = `${await this.saved(script('a', { status: 'working', text: 'at it' }, { sleep: 60_000 }))}/nodes/a`;
    const states = async (): Promise<string[]> => {
      const answer = await fetch(`${base}/tasks`, { headers: { 'A2A-Version': '1.0' } });
      const { tasks } = (await answer.json()) as { tasks: { status: { state: string } }[] };
      return tasks.map(({ status }) => status.state);
    };
    return { base, states };
  }

  /** What a run waits for, where that is not what it waited for before. */
  private async questionOf(runId: string, before: string): Promise<string | undefined> {
    const { status, nodes, error } = await this.stage.api.run(runId);
    if (status === 'failed' || status === 'completed') throw new Error(`The run is ${status}: ${error?.message}`);
    const asked = nodes['x']?.waitsFor?.message;
    return asked === before ? undefined : asked;
  }

  private async endOf(runId: string): Promise<string> {
    const run = await this.stage.api.ended(runId);
    if (run.status !== 'completed') throw new Error(`The run is ${run.status}: ${run.error?.message}`);
    return String(run.state['x']);
  }

  private async saved(...nodes: WorkflowNode[]): Promise<string> {
    const { name } = await this.stage.api.save(linear(unique('interop'), ...nodes));
    return this.stage.api.base(name);
  }
}
