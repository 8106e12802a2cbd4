import { ContentTooLarge } from './content-too-large.js';

/** So many characters may be put together. It is asked before they are, so that a text beyond it is never built. */
export class TextBudget {
  private left: number;

  constructor(private readonly limit = Number.POSITIVE_INFINITY) {
    this.left = limit;
  }

  /** How many characters were taken out of it so far. */
  get spent(): number {
    return this.limit - this.left;
  }

  /** @throws ContentTooLarge where so many more are too many */
  spend(characters: number): void {
    this.left -= characters;
    if (this.left < 0) throw ContentTooLarge.of('the rendered text', this.limit, 'RENDERED_TEXT_LIMIT');
  }
}
