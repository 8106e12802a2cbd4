import type { StreamResponse } from '#libs/protocol';

/**
 * Text that an agent streams, for a reader who sees it grow: of the first Artifact that grows, as long as it has text
 * alone. An Artifact that arrives complete does not grow, and is shown with the answer.
 */
export class GrowingText {
  #artifactId: string | undefined;
  #text = '';
  #given = '';
  #isOver = false;

  /** Returns the next piece; '' if the response has none. */
  nextPiece(response: StreamResponse): string {
    if (this.#isOver || !('artifactUpdate' in response)) return '';
    const { artifact, append = false } = response.artifactUpdate;
    const isSame = artifact.artifactId === this.#artifactId;
    const isText = artifact.parts.every(({ text }) => text !== undefined);
    // Shown text cannot be taken back; the end of the answer shows the result.
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
