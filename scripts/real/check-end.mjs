/** End of a check of `npm run real`: cancels what the check has left at work. */
import { readUntil } from './parley-calls.mjs';

/** Time within which the model must be idle after a check. */
const IDLE_WITHIN_MS = 20_000;

/** Cancels of one check. The next check begins after them, and has the only model to itself. */
export class CheckEnd {
  #model;
  #say;
  #cancels = [];

  /** @param say prints one line */
  constructor(model, say) {
    this.#model = model;
    this.#say = say;
  }

  /** Keeps the cancel of something that the check has started. */
  afterwards = (cancel) => void this.#cancels.push(cancel);

  /** Cancels everything, and waits until the model is idle. Never rejects: what has ended refuses its cancel. */
  async cleanUp() {
    await Promise.allSettled(this.#cancels.splice(0).map((cancel) => cancel()));
    const limits = { what: 'The end of all generations', within: IDLE_WITHIN_MS };
    try {
      await readUntil(
        () => this.#model.readSlot(),
        ({ isProcessing }) => !isProcessing,
        limits,
      );
    } catch (error) {
      this.#say(error.message);
    }
  }
}
