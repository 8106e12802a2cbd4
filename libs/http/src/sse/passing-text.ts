/**
 * A text that is made when it is sent, and gone then. V8 keeps what a suspended loop has last seen: a stream that waits for
 * its next event would keep the text of the one before.
 */
export class PassingText {
  private make: (() => string) | undefined;

  /**
   * @param length about how many characters the text has
   * @param make makes the text; called once
   */
  constructor(
    readonly length: number,
    make: () => string,
  ) {
    this.make = make;
  }

  /** Makes the text. @throws Error where it was taken before */
  take(): string {
    const { make } = this;
    if (!make) throw new Error('The text was sent already');
    this.make = undefined;
    return make();
  }
}

/** Returns a text, or takes the one that passes. */
export function textOf(text: string | PassingText): string {
  return typeof text === 'string' ? text : text.take();
}
