import { type ModelMessage, type Models, wholeAnswer } from '#libs/models';
import {
  firstText,
  isJsonObject,
  jsonInText,
  type JsonObject,
  type JsonValue,
  type Message,
  tryParseJson,
} from '#libs/protocol';
import { confirmation, type Order, orderOf, questionFor } from './order.js';

/** What the guest is told next, and whether the order is complete with it. */
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

/** Takes an order: a model where there is one, rules where there is none or where the model does not do as it was told. */
export class OrderTaker {
  constructor(private readonly models?: Models) {}

  /** @param said everything that was said so far, the guest's newest Message last */
  async answer(said: readonly Message[], signal: AbortSignal): Promise<OrderReply> {
    return (this.models && (await modelReply(this.models, said, signal))) ?? ruledReply(said);
  }
}

function ruledReply(said: readonly Message[]): OrderReply {
  const guest = said.filter(({ role }) => role === 'ROLE_USER');
  const order = orderOf(guest.map(({ parts }) => firstText(parts) ?? ''));
  const question = questionFor(order);
  return { say: question ?? confirmation(order), order, complete: question === undefined };
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
  const model = await models.find(undefined, { tenant: '', signal });
  const { parts } = await wholeAnswer(model, { messages, signal });
  return readReply(firstText(parts) ?? '');
}

/** A model's answer, also with words or a code fence around it; `undefined` where it is none. */
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
