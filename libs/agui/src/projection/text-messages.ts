import { createHash, type Hash } from 'node:crypto';
import type { AguiEvent } from './agui-event.js';

/** Message whose text is being sent. */
interface OpenMessage {
  messageId: string;
  /** Node instance that says the text; `''` for an agent without nodes. */
  instance: string;
  /** Number of characters so far. */
  length: number;
  /** Hash of the text so far. */
  hash: Hash;
}

/** Piece of the text of an Artifact. */
export interface TextPiece {
  artifactId: string;
  instance: string;
  text: string;
  /** True if the text continues the earlier text; false if it is the whole text so far. */
  append: boolean;
  /** True if no more text follows. */
  last: boolean;
}

/**
 * Text messages of one Task. Each Artifact with text becomes one message.
 * - A text that repeats the text so far, and continues it, continues the message. Any other replaced text begins a new
 *   message.
 * - A text that was sent in a message before is not sent again: results of nodes often repeat what a model has said.
 * - Only hashes and lengths of texts stay in memory.
 */
export class TextMessages {
  private readonly open = new Map<string, OpenMessage>();
  private readonly said = new Set<string>();

  /** @param createId returns the id of the next message: unique, and the same each time the log is read */
  constructor(private readonly createId: (sequence: number) => string) {}

  /** Returns the events for a piece of text. @param sequence position in the log of the event with the piece */
  addPiece({ artifactId, instance, text, append, last }: TextPiece, sequence: number): AguiEvent[] {
    const key = artifactKey(instance, artifactId);
    const known = this.open.get(key);
    const events: AguiEvent[] = [];
    let rest = text;
    if (known && !append) {
      if (continuesText(known, text)) rest = text.slice(known.length);
      else events.push(...this.closeMessage(key, known));
    }
    if (!this.open.has(key)) {
      if (text === '' || (last && this.isSaid(text))) return events;
      events.push(this.openMessage(key, instance, sequence));
    }
    const message = this.open.get(key);
    if (!message) return events;
    if (rest !== '') events.push(extendMessage(message, rest));
    if (last) events.push(...this.closeMessage(key, message));
    return events;
  }

  /** True if the message of an Artifact is open. */
  isOpen(instance: string, artifactId: string): boolean {
    return this.open.has(artifactKey(instance, artifactId));
  }

  /** Returns the events for a whole text that belongs to no Artifact; none if it was said before. */
  sayOnce(text: string, sequence: number): AguiEvent[] {
    return this.addPiece({ artifactId: `#${sequence}`, instance: '', text, append: false, last: true }, sequence);
  }

  /** Returns the events that end the open messages: those of a node instance, or all of them. */
  closeAll(instance?: string): AguiEvent[] {
    const ended = [...this.open].filter(([, message]) => instance === undefined || message.instance === instance);
    return ended.flatMap(([key, message]) => this.closeMessage(key, message));
  }

  /** True if a text was sent as one message. */
  private isSaid(text: string): boolean {
    return this.said.has(shortDigest(createHash('sha256').update(text)));
  }

  private openMessage(key: string, instance: string, sequence: number): AguiEvent {
    const messageId = this.createId(sequence);
    this.open.set(key, { messageId, instance, length: 0, hash: createHash('sha256') });
    return { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...(instance !== '' && { name: instance }) };
  }

  private closeMessage(key: string, message: OpenMessage): AguiEvent[] {
    this.open.delete(key);
    this.said.add(shortDigest(message.hash));
    return [{ type: 'TEXT_MESSAGE_END', messageId: message.messageId }];
  }
}

function artifactKey(instance: string, artifactId: string): string {
  return `${instance}\0${artifactId}`;
}

/** True if a text begins with the text of the message so far. */
function continuesText({ length, hash }: OpenMessage, text: string): boolean {
  if (text.length < length) return false;
  return shortDigest(createHash('sha256').update(text.slice(0, length))) === shortDigest(hash.copy());
}

function extendMessage(message: OpenMessage, delta: string): AguiEvent {
  message.length += delta.length;
  message.hash.update(delta);
  return { type: 'TEXT_MESSAGE_CONTENT', messageId: message.messageId, delta };
}

function shortDigest(hash: Hash): string {
  return hash.digest('base64url').slice(0, 22);
}
