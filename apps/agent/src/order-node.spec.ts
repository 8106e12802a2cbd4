import { type Model, type ModelCall, Models } from '#libs/models';
import { agentMessage, type Message, userMessage } from '#libs/protocol';
import { OrderTaker, parseOrder } from './order-node.js';

const { signal } = new AbortController();
const guest = (text: string): Message => userMessage(text);
const waiter = (text: string): Message => agentMessage({ taskId: 't', contextId: 'c' }, text);

class FixedModels extends Models {
  readonly calls: ModelCall[] = [];
  readonly defaultModel: Model;

  constructor(text: string) {
    super();
    const { calls } = this;
    this.defaultModel = {
      name: 'fixed',
      inputModes: ['text/plain'],
      async *streamAnswer(call) {
        calls.push(call);
        yield { text };
        yield { end: { reason: 'stop' } };
      },
    };
  }

  async findModel(): Promise<Model> {
    return this.defaultModel;
  }

  async findOrigin(): Promise<undefined> {
    return undefined;
  }

  async findInput(): Promise<{ modes: readonly string[] }> {
    return { modes: this.defaultModel.inputModes };
  }
}

describe('orderOf', () => {
  it.each([
    [['two large lattes, please'], { drink: 'latte', size: 'large', quantity: 2 }],
    [['Tea.', 'small'], { drink: 'tea', size: 'small' }],
    [['a small tea', 'no, make it 12 medium cocoas'], { drink: 'cocoa', size: 'medium', quantity: 12 }],
    [['hello'], {}],
  ])('%j', (texts, order) => {
    expect(parseOrder(texts)).toEqual(order);
  });
});

describe('OrderTaker', () => {
  it('by rules asks for what is missing, remembers what was said, and completes', async () => {
    const taker = new OrderTaker();
    expect(await taker.answerGuest([guest('hi')], signal)).toMatchObject({ complete: false, order: {} });
    const first = await taker.answerGuest([guest('a tea')], signal);
    expect(first).toMatchObject({ say: 'Which size of tea: small, medium, large?', complete: false });
    const second = await taker.answerGuest([guest('a tea'), waiter(first.say), guest('large')], signal);
    expect(second).toEqual({
      say: 'Your order: 1 × large tea. Coming up!',
      order: { drink: 'tea', size: 'large' },
      complete: true,
    });
  });

  it('with a model tells what the model says, which has read everything so far', async () => {
    const models = new FixedModels(
      'Sure:\n```json\n{"say":"Which size?","order":{"drink":"tea"},"complete":false}\n```',
    );
    const reply = await new OrderTaker(models).answerGuest([guest('a tea'), waiter('And?'), guest('hm')], signal);
    expect(reply).toEqual({ say: 'Which size?', order: { drink: 'tea' }, complete: false });
    expect(models.calls[0]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  });

  it('does not believe a model that completes an order without a size', async () => {
    const models = new FixedModels('{"say":"Done!","order":{"drink":"tea"},"complete":true}');
    expect(await new OrderTaker(models).answerGuest([guest('a tea')], signal)).toMatchObject({ complete: false });
  });

  it('goes by rules where the model does not answer as it was told', async () => {
    const models = new FixedModels('I would love to help you');
    expect(await new OrderTaker(models).answerGuest([guest('a large tea')], signal)).toMatchObject({ complete: true });
  });
});
