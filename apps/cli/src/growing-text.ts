import type { StreamResponse } from '#libs/protocol';

/**
 * The text that an agent makes piece by piece, for who reads it as it grows: that of the first Artifact that grows, as far as
 * it is text alone. One that comes whole does not grow, and is left to who shows the answer.
 */
export class GrowingText {
  #artifactId: string | undefined;
  #text = '';
  #given = '';
  #isOver = false;

  /** The next piece; empty where a response brings none. */
  take(response: StreamResponse): string {
    if (this.#isOver || !('artifactUpdate' in response)) return '';
    const { artifact, append = false } = response.artifactUpdate;
    const isSame = artifact.artifactId === this.#artifactId;
    const isText = artifact.parts.every(({ text }) => text !== undefined);
    // What was given cannot be taken back: the end shows what came of it.
    this.#isOver = !isText || (this.#given !== '' && !(append && isSame));
    if (this.#isOver) return '';
    if (!append || !isSame) this.#text = '';
    this.#artifactId = artifact.artifactId;
    this.#text += artifact.parts.map(({ text }) => text).join('');
    if (!append) return '';
    const piece = this.#text.slice(this.#given.length);
    this.#given = this.#text;
    return piece;
  }
}
