import type { JsonObject } from '#libs/protocol';
import { FakeLlm } from './fake-llm.js';
import type { Stage } from './stage.js';
import { echo, linear, unique } from './workflow.js';

/** Message that a model was sent: its role and its text. */
export type ToldMessage = [role: string, text: string];

/**
 * Two nodes of the type `agent` and a third one for announcements. Their model records the messages that it is sent.
 */
export class ModelTalk {
  readonly poet = unique('poet');
  readonly critic = unique('critic');
  readonly herald = unique('herald');

  private constructor(readonly llm: FakeLlm) {}

  static async of(stage: Pick<Stage, 'api' | 'defer'>): Promise<ModelTalk> {
    const llm = await FakeLlm.start();
    stage.defer(() => llm.stop());
    const model = unique('recorded');
    const stored = { name: model, provider: 'openai-compatible', model: 'small', baseUrl: llm.url };
    const reply = await stage.api.call('POST', '/models', stored);
    if (reply.status !== 201) throw new Error(`The model is not stored: ${reply.status} ${reply.text}`);
    const talk = new ModelTalk(llm);
    for (const name of [talk.poet, talk.critic, talk.herald])
      await stage.api.save(linear(unique('talk'), echo(name, { model, system_prompt: `I am ${name}.` })));
    return talk;
  }

  /** Returns the messages of every call of the model for a node, in order. */
  told(node: string): ToldMessage[][] {
    const calls = this.llm.calls.map(({ body }) => messagesOf(body));
    return calls.filter(([first]) => first?.[1].startsWith(`I am ${node}.`));
  }

  /**
   * Sets the model's answers to the next calls. Once no text is left, the model answers with the token that the prompt
   * asks for.
   */
  says(...texts: string[]): void {
    const rest = [...texts];
    this.llm.answer = (body) => {
      const [[, prompt] = ['', '']] = messagesOf(body);
      return rest.shift() ?? /reply exactly (\w+)/.exec(prompt)?.[1] ?? 'nobody told me';
    };
  }
}

function messagesOf({ messages }: JsonObject): ToldMessage[] {
  return (messages as unknown as { role: string; content: string }[]).map(({ role, content }) => [role, content]);
}
