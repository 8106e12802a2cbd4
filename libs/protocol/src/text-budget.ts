import { ContentTooLarge } from './content-too-large.js';

/** Budget of characters for texts that are built. It is checked first, so a text beyond it is never built. */
export class TextBudget {
  private left: number;

  constructor(private readonly limit = Number.POSITIVE_INFINITY) {
    this.left = limit;
  }

  /** Number of characters spent so far. */
  get spent(): number {
    return this.limit - this.left;
  }

  /** Spends characters. @throws ContentTooLarge beyond the limit */
  spendCharacters(characters: number): void {
    this.left -= characters;
    if (this.left < 0) throw ContentTooLarge.beyondLimit('the rendered text', this.limit, 'RENDERED_TEXT_LIMIT');
  }
}
