/** Something is larger than the service was told to take. The message may be shown to callers: it names the limit. */
export class ContentTooLarge extends Error {
  override readonly name: string = 'ContentTooLarge';

  /**
   * @param what what is too large, as the subject of a sentence
   * @param variable the variable that sets the limit, in characters
   */
  static of(what: string, limit: number, variable: string): ContentTooLarge {
    return new ContentTooLarge(`${what} has more than ${limit} characters (${variable})`);
  }
}
