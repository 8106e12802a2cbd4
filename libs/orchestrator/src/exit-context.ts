import { type RequestContext, TaskCanceled } from '#libs/executor';

/**
 * What the nodes of `onExit` are called with when a run is canceled: that it is so stops none of them, nor keeps a call
 * from leaving; that another replica has the run does.
 */
export function exitContext(context: RequestContext): RequestContext {
  const prove = async (): Promise<void> => {
    try {
      await context.prove();
    } catch (error) {
      if (!(error instanceof TaskCanceled)) throw error;
    }
  };
  return { ...context, signal: new AbortController().signal, prove };
}
