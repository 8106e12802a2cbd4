import { type AgentCall, type CallProgress, NodeProgress } from '#libs/agent-calls';
import type { RunEventNote } from '#libs/protocol';

/** Event of a running call: a received response, or a progress step, at most one in 250 ms. */
export type CallReport = { received: CallProgress } | { progress: RunEventNote };

/**
 * Runs a call, and reports the agent's progress meanwhile.
 * @throws the reason why the call was given up
 */
export async function* reportedCall(
  call: Pick<AgentCall, 'runCall' | 'abort'>,
): AsyncGenerator<CallReport, void, undefined> {
  const notes: RunEventNote[] = [];
  let noted = Promise.withResolvers<undefined>();
  using progress = new NodeProgress((note) => {
    notes.push(note);
    noted.resolve(undefined);
  });
  const responses = call.runCall();
  let isOver = false;
  const nextResponse = async (): Promise<IteratorResult<CallProgress, void>> => {
    const next = await responses.next();
    isOver = next.done === true;
    return next;
  };
  let next = nextResponse();
  try {
    for (;;) {
      // Avoids an unhandled rejection if the reader leaves.
      next.catch(() => undefined);
      const first = await Promise.race([next, noted.promise]);
      if (first === undefined) {
        noted = Promise.withResolvers<undefined>();
        for (const note of notes.splice(0)) yield { progress: note };
        continue;
      }
      if (first.done) return;
      progress.takeResponse(first.value.response);
      yield { received: first.value };
      next = nextResponse();
    }
  } finally {
    if (!isOver) call.abort();
  }
}
