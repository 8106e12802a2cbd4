import type { CalledTask } from '#libs/a2a-client';
import { type Artifact, briefText, firstText, type Part, type TaskState, shownUrl } from '#libs/protocol';
import type { WorkflowNode } from './workflow.js';

/** How a call to an agent came to its end. */
export type ChildEnding =
  | { kind: 'completed'; status: string; artifacts: Artifact[] }
  | { kind: 'waiting'; status: string; question: Part[] }
  /** `status` is absent where the agent gave no answer. */
  | { kind: 'failed'; status?: string; error: string };

/** A Task state as a word: `completed`, `input-required`. */
export function stateWord(state: TaskState): string {
  return state.slice('TASK_STATE_'.length).toLowerCase().replace('_', '-');
}

/**
 * What an agent's answer means for the node (row K8): only COMPLETED or a direct Message is success, a waiting Task
 * makes the node wait, any other end is the node's error.
 */
export function childEnding(node: WorkflowNode, url: string, child: CalledTask): ChildEnding {
  if (child.reply) return { kind: 'completed', status: 'completed', artifacts: replyArtifacts(child.reply) };
  switch (child.state) {
    case 'TASK_STATE_COMPLETED':
      return { kind: 'completed', status: 'completed', artifacts: completedArtifacts(child) };
    case 'TASK_STATE_INPUT_REQUIRED':
    case 'TASK_STATE_AUTH_REQUIRED':
      return { kind: 'waiting', status: stateWord(child.state), question: child.status?.message?.parts ?? [] };
    case 'TASK_STATE_FAILED':
    case 'TASK_STATE_CANCELED':
    case 'TASK_STATE_REJECTED':
      return { kind: 'failed', status: stateWord(child.state), error: endError(node, url, child) };
    default:
      return callFailure(node, url, 'the agent did not finish its answer');
  }
}

/** The node's error where the call itself failed (row E4). */
export function callFailure(node: WorkflowNode, url: string, cause: string): ChildEnding {
  return {
    kind: 'failed',
    error: node.type === 'external' ? `external agent call to ${shownUrl(url)}: ${cause}` : cause,
  };
}

function endError(node: WorkflowNode, url: string, child: CalledTask): string {
  const word = child.state === undefined ? '' : stateWord(child.state);
  const said = briefText(firstText(child.status?.message?.parts ?? [])?.trim() ?? '');
  if (node.type === 'external') return `external agent ${shownUrl(url)} ${word}${said ? `: ${said}` : ''}`;
  const cause = said.replace(/^Error: /, '');
  if (word === 'failed') return cause || 'the node failed';
  return `the node was ${word}${cause ? `: ${cause}` : ''}`;
}

function replyArtifacts({ messageId, parts }: { messageId: string; parts: Part[] }): Artifact[] {
  return [{ artifactId: messageId, parts }];
}

/** What an agent says at the end is its output where it made no Artifact. */
function completedArtifacts(child: CalledTask): Artifact[] {
  const artifacts = child.artifacts.filter(({ parts }) => parts.length > 0);
  if (artifacts.length > 0) return artifacts;
  const said = child.status?.message;
  return said && said.parts.length > 0 ? replyArtifacts(said) : [];
}
