import { CheckField } from '../../components/choice-fields.js';
import { Disclosure } from '../../components/disclosure.js';
import { connectNodes, leadsBack } from '../draft.js';
import { DurationField } from '../duration-field.js';
import { FallbackFields } from './fallback-fields.js';
import { NodeChoice } from './follow-section.js';
import { type NodeControl, setMembers } from './node-control.js';
import { RetryFields } from './retry-fields.js';
import { failureSummary } from './summaries.js';

/** Shows the settings for the failure of a node, in the order in which they apply. */
export function FailureSection(control: NodeControl) {
  const { draft, node, change } = control;
  const { retry, fallback } = node;
  const later = draft.nodes.filter(({ id }) => id !== node.id && !leadsBack(draft, { from: node.id, to: id }));
  return (
    <Disclosure title="When it fails" summary={failureSummary(node, draft.edges)}>
      <DurationField
        label="Time for one attempt"
        hint="Time spent waiting for an answer does not count."
        placeholder="2m"
        value={node.timeout}
        onChange={(timeout) => setMembers(control, { timeout })}
      />
      <CheckField
        label="Try again"
        checked={retry !== undefined}
        onChange={(is) => setMembers(control, { retry: is ? { attempts: 3 } : undefined })}
      />
      {retry && <RetryFields {...control} retry={retry} />}
      <CheckField
        label="Use a fallback"
        hint="Result of the node if no attempt succeeds."
        checked={fallback !== undefined}
        onChange={(is) => setMembers(control, { fallback: is ? { parts: [{ text: '' }] } : undefined })}
      />
      {fallback && <FallbackFields {...control} fallback={fallback} />}
      <NodeChoice
        label="Else go on to"
        hint="Draws an edge that is taken on failure; its target handles the failure."
        ids={later.map(({ id }) => id)}
        onChoose={(to) => change((last) => connectNodes(last, { from: node.id, to, on: 'failure' }))}
      />
    </Disclosure>
  );
}
