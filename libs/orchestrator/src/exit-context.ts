import { type RequestContext, TaskCanceled } from '#libs/executor';

/**
 * Returns the context for the calls of `onExit` nodes when a run is canceled. The cancel stops neither these nodes nor
 * their calls. The loss of the run to another replica does.
 */
export function createExitContext(context: RequestContext): RequestContext {
  const assertClaimIgnoringCancel = async (): Promise<void> => {
    try {
      await context.assertClaimHeld();
    } catch (error) {
      if (!(error instanceof TaskCanceled)) throw error;
    }
  };
  return { ...context, signal: new AbortController().signal, assertClaimHeld: assertClaimIgnoringCancel };
}
