import { A2AError, statusUpdate } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { type ServedAgent, UnknownAgent } from './agent-catalog.js';
import { AgentExecutor, type RequestContext } from './agent-executor.js';
import { endChildrenJob } from './end-children-job.js';

const GONE = 'The definition that this task was started with is gone';

/** Ends Tasks whose agent no longer exists, and their children. Rejects every Message. */
class GoneExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  override readonly callsAgents = true;
  override readonly cancelGrace = 10_000;

  override checkRequest(): void {
    throw new A2AError('UNSUPPORTED_OPERATION', {
      message: `${GONE}: it can be read and canceled, and takes no message.`,
    });
  }

  async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const end = context.signal.aborted
      ? statusUpdate(context, 'TASK_STATE_CANCELED', `${GONE}; it was canceled without its agent.`)
      : statusUpdate(context, 'TASK_STATE_FAILED', `${GONE}, and nobody can go on with it.`);
    yield { ...end, jobs: [endChildrenJob(context.taskId)] };
  }
}

const EXECUTOR = new GoneExecutor();

/** Returns a stand-in for an agent that no longer exists, so that its Tasks can be read, listed and canceled. */
function goneAgent(gone: UnknownAgent, path: string, revision = ''): ServedAgent {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return {
    path,
    name,
    description: GONE,
    version: revision,
    skills: [],
    inputModes: [],
    outputModes: [],
    executor: EXECUTOR,
    gone,
  };
}

/**
 * Returns the agent that a function finds, or a stand-in if it no longer exists. @throws any other error of the
 * function
 */
export async function agentOrGone(
  find: () => Promise<ServedAgent>,
  path: string,
  revision?: string,
): Promise<ServedAgent> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof UnknownAgent)) throw error;
    return goneAgent(error, path, revision);
  }
}
