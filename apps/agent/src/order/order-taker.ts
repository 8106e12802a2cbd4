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
import { confirmOrder, type Order, parseOrder, questionFor } from './order.js';

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

/** Takes an order with a model, or by rules if there is no model or its answer is unusable. */
export class OrderTaker {
  constructor(private readonly models?: Models) {}

  /** Answers the guest. @param said all Messages so far, the guest's newest last */
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

/** Parses a model's answer, which may have text or a code fence around it; `undefined` if it is not a reply. */
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
