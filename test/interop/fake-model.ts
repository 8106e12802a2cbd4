/** What a model without a network says to a text: in as many pieces as there are, each when it comes. */
export type Answer = (text: string) => Iterable<string> | AsyncIterable<string> | Promise<Iterable<string>>;

export async function* piecesOf(answer: Answer, text: string): AsyncGenerator<string, void> {
  yield* await answer(text);
}

/** A model that says `one two three`, the last word when it is let: some frameworks hold each piece until the next comes. */
export function halting(): { answer: Answer; release(): void } {
  const released = Promise.withResolvers<void>();
  return {
    async *answer() {
      yield 'one ';
      yield 'two ';
      await released.promise;
      yield 'three';
    },
    release: () => released.resolve(),
  };
}

/** A model that is asked and does not answer. */
export function silent(): { answer: Answer; asked: Promise<void>; release(): void } {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<string[]>();
  const answer: Answer = () => {
    asked.resolve();
    return released.promise;
  };
  return { answer, asked: asked.promise, release: () => released.resolve(['too late']) };
}
