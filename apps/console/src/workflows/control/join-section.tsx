import { CheckField, ChoiceField, OptionalNumber } from '../../components/choice-fields.js';
import { Disclosure } from '../../components/disclosure.js';
import type { JoinRule } from '../../graph/graph.js';
import { countIncoming } from '../../graph/node-badges.js';
import { type NodeControl, setMembers } from './node-control.js';
import { joinSummary } from './summaries.js';

type JoinKind = 'all' | 'any' | 'some';

const KINDS: Readonly<Record<JoinKind, string>> = {
  all: 'When all of them are done',
  any: 'At the first one that arrives',
  some: 'When a number of them have arrived',
};

/**
 * Shows inputs for the start of a node: after all of its incoming edges, after the first, or after a number of edges.
 */
export function JoinSection(control: NodeControl) {
  const { draft, node } = control;
  const edges = countIncoming(draft, node.id);
  if (edges < 2 && node.join === undefined) return null;
  const { join = 'all' } = node;
  const n = typeof join === 'object' ? join.n : 1;
  const cancelRest = typeof join === 'object' && join.cancelRest === true;
  const kind: JoinKind = join === 'all' ? 'all' : join === 'any' || n === 1 ? 'any' : 'some';
  const changeJoin = (count: number, rest: boolean): void => setMembers(control, { join: joinOf(count, rest) });
  return (
    <Disclosure title="When it starts" summary={joinSummary(node.join, edges)}>
      <ChoiceField
        label="Starts"
        hint={`${edges} edges lead here. One that is not taken counts as done.`}
        value={kind}
        options={KINDS}
        onChange={(next) =>
          next === 'all' ? setMembers(control, { join: undefined }) : changeJoin(next === 'any' ? 1 : 2, cancelRest)
        }
      />
      {kind === 'some' && (
        <OptionalNumber
          label="How many"
          value={n}
          min={2}
          max={edges}
          onChange={(count) => changeJoin(Math.max(2, Math.round(count ?? 2)), cancelRest)}
        />
      )}
      {kind !== 'all' && (
        <CheckField
          label="Cancel the rest"
          hint="Cancels nodes that lead only here and are no longer needed."
          checked={cancelRest}
          onChange={(rest) => changeJoin(n, rest)}
        />
      )}
    </Disclosure>
  );
}

function joinOf(n: number, cancelRest: boolean): JoinRule {
  return n === 1 && !cancelRest ? 'any' : { n, ...(cancelRest && { cancelRest }) };
}
