import type { ChatAnswer, ChatListener } from './chat-session.js';
import type { Terminal } from './terminal.js';

const PREFIX = 'agent> ';

/** Answer of an agent on a terminal: its text as it arrives, then the rest. For programs it is one document. */
export class ShownAnswer implements ChatListener {
  readonly #terminal: Terminal;
  #shown = '';
  #isOpen = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  working(text: string): void {
    // Only a terminal mixes both streams.
    if (this.#terminal.columns !== undefined) this.close();
    this.#terminal.writeNote(`… ${text}`);
  }

  piece(text: string): void {
    if (this.#terminal.json) return;
    this.#terminal.writePiece(`${this.#shown === '' ? PREFIX : ''}${this.#terminal.stripControls(text)}`);
    this.#shown += text;
    this.#isOpen = true;
  }

  /** Completes the answer. @param end text behind it */
  finishAnswer(answer: ChatAnswer, end: string): void {
    const rest = this.#restOf(answer.text);
    const isSaid = rest === '' && end === '' && !this.#isOpen;
    if (rest === undefined) this.close();
    this.#isOpen = false;
    if (!isSaid)
      this.#terminal.writeEntry(
        answer,
        () => `${rest ?? `${PREFIX}${this.#terminal.stripControls(answer.text)}`}${end}`,
      );
  }

  /** Ends an open line. */
  close(): void {
    if (this.#isOpen) this.#terminal.writeLine('');
    this.#isOpen = false;
  }

  /** Returns the text not yet shown; `undefined` if the answer differs from what was shown. */
  #restOf(text: string): string | undefined {
    if (this.#shown === '') return undefined;
    if (text.startsWith(this.#shown)) return this.#terminal.stripControls(text.slice(this.#shown.length));
    // The answer may begin with Artifacts of earlier turns of the Task.
    return text.endsWith(`\n${this.#shown}`) ? '' : undefined;
  }
}
