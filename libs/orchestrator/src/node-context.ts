import { Logger } from '@nestjs/common';
import type { KeptContext, RemoteContexts, RemoteTalk } from '#libs/agent-calls';
import type { RequestContext } from '#libs/executor';
import { retryWhileDatabaseDown } from '#libs/postgres';
import type { NodeInstance } from './node-run.js';
import type { WorkflowDefinition } from './workflow.js';

const logger = new Logger('NodeContext');

interface ContextRun {
  context: Pick<RequestContext, 'taskId' | 'contextId' | 'call' | 'signal'>;
  definition: WorkflowDefinition;
  isRerun: boolean;
}

/**
 * Returns where the context of an external node's agent is stored; `undefined` if it is not stored.
 * - The turns of the run's context and the iterations of a loop share it.
 * - A rerun, and a run called for one entry of a list, each have a context of their own.
 * - The entries of a list, and nodes with `history: "none"`, have no stored context.
 */
export function nodeContext(
  contexts: RemoteContexts,
  run: ContextRun,
  node: Pick<NodeInstance, 'id' | 'type' | 'index'>,
  agentUrl: string,
): KeptContext | undefined {
  const { context, definition } = run;
  const config = definition.nodes.find(({ id }) => id === node.id)?.config;
  if (node.type !== 'external' || node.index !== undefined || config?.['history'] === 'none') return undefined;
  const { taskId, call, signal } = context;
  const { tenant, owner } = call.scope;
  const part = partOf(run);
  const contextId = part === undefined ? context.contextId : `${context.contextId}/${part}`;
  const workflow = definition.name;
  const talk: RemoteTalk = { tenant, owner, contextId, workflow, node: node.id, agentUrl };
  return {
    findContextId: () => retryWhileDatabaseDown(() => contexts.findContext(talk), signal),
    keepContextId: (remote) =>
      contexts.keepContext(talk, remote, taskId).catch((error: unknown) => {
        logger.warn({ err: error, taskId }, "The context of a node's agent could not be kept");
      }),
  };
}

/** Returns the part of the context that belongs to this run alone; `undefined` if the run shares the whole context. */
function partOf({ context, isRerun }: ContextRun): string | undefined {
  if (isRerun) return context.taskId;
  const { parent } = context.call;
  return parent?.reference.includes('[') ? `${parent.taskId}/${parent.reference}` : undefined;
}
