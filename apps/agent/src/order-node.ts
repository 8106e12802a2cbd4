import { AgentExecutor, type NodeSpec, type RequestContext } from '#libs/agents';
import { ModelError, type ModelMessage, type Models, wholeAnswer } from '#libs/models';
import type { NodeType } from '#libs/nodes';
import {
  artifactUpdate,
  dataPart,
  firstText,
  isJsonObject,
  jsonInText,
  type JsonObject,
  type JsonValue,
  type Message,
  statusUpdate,
  textPart,
  tryParseJson,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';

/** Order of a guest; details that the guest has not given yet are absent. */
interface Order {
  drink?: string;
  size?: string;
  /** Number of cups; absent if the guest has not said it, which means 1. */
  quantity?: number;
}

const DRINKS = ['espresso', 'cappuccino', 'latte', 'coffee', 'cocoa', 'tea'];
const SIZES = ['small', 'medium', 'large'];
const NUMBERS = ['one', 'two', 'three', 'four', 'five', 'six'];

/** Parses the order in a guest's texts. A later drink, size or quantity replaces an earlier one. */
export function parseOrder(texts: readonly string[]): Order {
  const order: Order = {};
  for (const word of texts.flatMap((text) => text.toLowerCase().match(/[a-z]+|\d+/g) ?? [])) {
    const singular = word.replace(/s$/, '');
    if (DRINKS.includes(singular)) order.drink = singular;
    if (SIZES.includes(word)) order.size = word;
    const quantity = /^\d{1,2}$/.test(word) ? Number(word) : NUMBERS.indexOf(word) + 1;
    if (quantity > 0) order.quantity = quantity;
  }
  return order;
}

/** Returns the question for the next missing part, or `undefined` if the order is complete. */
function questionFor({ drink, size }: Order): string | undefined {
  if (drink === undefined) return `What would you like to drink? We have ${DRINKS.join(', ')}.`;
  return size === undefined ? `Which size of ${drink}: ${SIZES.join(', ')}?` : undefined;
}

/** Returns the confirmation of a complete order. */
function confirmOrder({ drink = '', size = '', quantity = 1 }: Order): string {
  return `Your order: ${quantity} × ${size} ${drink}. Coming up!`;
}

/** Reply to the guest, and the order so far. */
export interface OrderReply {
  say: string;
  order: Order;
  complete: boolean;
}

const SYSTEM_PROMPT =
  'You take orders in a café: a drink (espresso, cappuccino, latte, coffee, cocoa or tea), a size (small, medium or ' +
  'large) and, if the guest says one, a number of cups. Ask for what is missing, one thing at a time. Answer with one ' +
  'JSON object and nothing else: {"say": what you tell the guest, "order": {"drink"?, "size"?, "quantity"?}, ' +
  '"complete": true once drink and size are known}.';

/** Takes an order with a model, or by rules if there is no model or its answer is not an OrderReply. */
export class OrderTaker {
  constructor(private readonly models?: Models) {}

  /** Returns the reply to the guest. @param said all Messages so far, the guest's newest last */
  async answerGuest(said: readonly Message[], signal: AbortSignal): Promise<OrderReply> {
    return (this.models && (await modelReply(this.models, said, signal))) ?? ruledReply(said);
  }
}

function ruledReply(said: readonly Message[]): OrderReply {
  const guest = said.filter(({ role }) => role === 'ROLE_USER');
  const order = parseOrder(guest.map(({ parts }) => firstText(parts) ?? ''));
  const question = questionFor(order);
  return { say: question ?? confirmOrder(order), order, complete: question === undefined };
}

async function modelReply(
  models: Models,
  said: readonly Message[],
  signal: AbortSignal,
): Promise<OrderReply | undefined> {
  const talk = said.map(({ role, parts }): ModelMessage => ({
    role: role === 'ROLE_USER' ? 'user' : 'assistant',
    parts,
  }));
  const messages = [{ role: 'system' as const, parts: [{ text: SYSTEM_PROMPT }] }, ...talk];
  const model = await models.findModel(undefined, { tenant: '', signal });
  const { parts } = await wholeAnswer(model, { messages, signal });
  return readReply(firstText(parts) ?? '');
}

/**
 * Parses a model's answer, which may have text or a code fence around its JSON. Returns `undefined` if the answer has
 * no JSON object with a text in the member `say`.
 */
function readReply(text: string): OrderReply | undefined {
  const reply = jsonInText(text, { read: tryParseJson, fits: isReply });
  if (!isReply(reply)) return undefined;
  const order = isJsonObject(reply['order']) ? (reply['order'] as Order) : {};
  const complete = reply['complete'] === true && questionFor(order) === undefined;
  return { say: reply['say'], order, complete };
}

function isReply(value: JsonValue | undefined): value is JsonObject & { say: string } {
  return isJsonObject(value) && typeof value['say'] === 'string' && value['say'].trim() !== '';
}

/**
 * Node type `order`: an agent that takes an order over several turns and asks for missing parts. All state is in its
 * Task.
 */
export class OrderNode implements NodeType {
  readonly name = 'order';

  /** @param models absent for an agent that works by rules */
  constructor(private readonly models?: Models) {}

  findProblems(): string[] {
    return [];
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new OrderExecutor(node, new OrderTaker(this.models));
  }
}

class OrderExecutor extends AgentExecutor {
  override readonly recovery = 'restart';

  constructor(
    private readonly node: NodeSpec,
    private readonly taker: OrderTaker,
  ) {
    super();
  }

  /** Executes a turn. The Task's history has the earlier Messages; no other state is stored. */
  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    if (context.recovered === 0) yield statusUpdate(context, 'TASK_STATE_WORKING');
    try {
      const said = [...(context.task?.history ?? []), context.userMessage];
      const { say, order, complete } = await this.taker.answerGuest(said, context.signal);
      if (!complete) return yield statusUpdate(context, 'TASK_STATE_INPUT_REQUIRED', say);
      const parts = [textPart(say), dataPart({ ...order } as JsonObject)];
      yield artifactUpdate(context, { artifactId: this.node.id, name: 'order', parts }, { lastChunk: true });
      yield statusUpdate(context, 'TASK_STATE_COMPLETED', say);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      yield statusUpdate(context, 'TASK_STATE_FAILED', `Error: ${error.message}`);
    }
  }
}
