/**
 * A text that is built when it is sent, and freed then. V8 retains the last value of a suspended loop: a stream waiting
 * for its next event would keep the previous text.
 */
export class PassingText {
  private make: (() => string) | undefined;

  /**
   * @param length approximate number of characters of the text
   * @param make builds the text; called once
   */
  constructor(
    readonly length: number,
    make: () => string,
  ) {
    this.make = make;
  }

  /** Builds the text. @throws Error if it was already taken */
  takeText(): string {
    const { make } = this;
    if (!make) throw new Error('The text was sent already');
    this.make = undefined;
    return make();
  }
}

/** Returns a text, building it if necessary. */
export function resolveText(text: string | PassingText): string {
  return typeof text === 'string' ? text : text.takeText();
}
