/** Content exceeds a configured limit. The message names the limit and may be shown to callers. */
export class ContentTooLarge extends Error {
  override readonly name: string = 'ContentTooLarge';

  /**
   * @param what the content, as the subject of a sentence
   * @param variable the variable that sets the limit, in characters
   */
  static beyondLimit(what: string, limit: number, variable: string): ContentTooLarge {
    return new ContentTooLarge(`${what} has more than ${limit} characters (${variable})`);
  }
}
