import type { CallIdentity } from '#libs/agent-calls';
import type { WorkflowNode } from './workflow.js';

/**
 * Returns the settings of an `external` node for each call to its agent: the credential, and the protocol that the
 * agent is known to speak. Empty for any other node.
 */
export function externalCall(node: WorkflowNode | undefined): Pick<CallIdentity, 'credential' | 'protocol'> {
  if (node?.type !== 'external') return {};
  const { auth, protocol } = node.config;
  return {
    ...(typeof auth === 'string' && auth !== '' && { credential: auth }),
    ...(protocol === 'founding' && { protocol }),
  };
}
