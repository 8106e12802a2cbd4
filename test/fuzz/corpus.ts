import type { JsonValue, Task } from '#libs/protocol';
import { sendTask } from '../support/a2a.js';
import type { SeededRandom } from '../support/seeded-random.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { Api, echo, input, linear, output, ruled, script, unique, type Workflow } from '../support/workflow.js';

/** Names and ids of objects on the service, by the placeholders that stand for them in seeds. */
type Names = Readonly<Record<string, string>>;

/** Number of objects of each kind that exist at the same time. */
const SETS = 6;

/**
 * Objects on the service that cases may use: waiting, ended and working Tasks, conversations, brainstorms, keys,
 * deliveries.
 */
export class Corpus {
  private sets: Names[] = [];

  private constructor(
    private readonly api: Api,
    private readonly hook: WebhookReceiver,
    private readonly fixed: Names,
    private readonly hasKeys: boolean,
  ) {}

  static async make(api: Api, hasKeys: boolean): Promise<Corpus> {
    const hook = await WebhookReceiver.start();
    const workflow = unique('fuzz');
    await api.save(agents(workflow));
    await api.save(linear(`${workflow}_run`, input('in'), echo('say'), output('out')));
    const fixed = {
      workflow,
      runnable: `${workflow}_run`,
      edited: `${workflow}_edit`,
      gone: `${workflow}_gone`,
      agent: api.base(workflow, 'echo'),
      hook: hook.url,
    };
    const corpus = new Corpus(api, hook, fixed, hasKeys);
    await corpus.renew();
    return corpus;
  }

  /** Creates new objects in place of those that cases have used up. */
  async renew(): Promise<void> {
    // The bodies of webhooks need not be kept.
    this.hook.received.length = 0;
    const { fixed, api } = this;
    for (const name of [fixed['edited'], fixed['gone']]) {
      await api.call('PUT', `/workflows/${name}`, { ...linear(name!, input('in'), output('out')) });
    }
    const sets = await Promise.all(Array.from({ length: SETS }, () => this.set()));
    this.sets = sets.map((names) => ({ ...fixed, ...names }));
  }

  /** Replaces the placeholders in a value by random names of objects. */
  filled<T extends JsonValue | undefined>(value: T, random: SeededRandom): T {
    const names = random.pick(this.sets);
    const fill = (text: string): string =>
      text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => names[name] ?? whole);
    return deeply(value, fill) as T;
  }

  async stop(): Promise<void> {
    await this.hook.stop();
  }

  private async set(): Promise<Names> {
    const { api, hasKeys } = this;
    const { workflow = '', agent = '', hook = '' } = this.fixed;
    const { headers } = api;
    const configuration = { taskPushNotificationConfig: { id: 'c', url: hook } };
    const waiting: Task = await sendTask(api.base(workflow, 'asks'), 'hi', { headers, configuration });
    const ended = await sendTask(agent, 'hi', { headers, configuration });
    const talk = { requester: agent, target: agent, message: 'hi', maxTurns: 1 };
    const storm = { idea: 'x', agents: [{ agent }, { agent }] };
    return {
      task: waiting.id,
      context: waiting.contextId,
      ended: ended.id,
      run: await api.start(`${workflow}_run`, { in: 'x' }),
      conversation: await this.made('/conversations', talk, 'conversationId'),
      brainstorm: await this.made('/brainstorms', storm, 'brainstormId'),
      keyId: hasKeys ? await this.made('/keys', { name: 'fuzz', scopes: ['agents'] }, 'id') : 'none',
      delivery: await this.delivery(ended.id),
    };
  }

  private async made(path: string, body: JsonValue, name: string): Promise<string> {
    const reply = await this.api.call('POST', path, body);
    if (reply.status > 202) throw new Error(`POST ${path}: ${reply.status} ${reply.text}`);
    return String((reply.body as Record<string, unknown>)[name]);
  }

  private async delivery(taskId: string): Promise<string> {
    const { body } = await this.api.call('GET', `/deliveries?taskId=${taskId}`);
    return (body as unknown as { deliveries: { id: string }[] }).deliveries[0]?.id ?? 'none';
  }
}

/** Creates a workflow whose agents complete at once, wait, fail, or take a moment. */
function agents(name: string): Workflow {
  return {
    name,
    nodes: [
      echo('echo'),
      script('parts', { echo: true }, { complete: 'done' }),
      script('direct', { reply: [{ text: 'no task' }] }),
      script('fails', { fail: 'no luck' }),
      script('moment', { status: 'working' }, { sleep: 20 }, { complete: 'done' }),
      ruled('asks', [{ when: { turn: 1, text: '^h' }, steps: [{ ask: 'more?' }] }], [{ complete: 'thanks' }]),
    ],
    edges: [],
  };
}

function deeply(value: JsonValue | undefined, fill: (text: string) => string): JsonValue | undefined {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((it) => deeply(it, fill) as JsonValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, deeply(it, fill) as JsonValue]));
}
