import { ArrowDown, ArrowUp } from 'lucide-react';
import { Button } from '../../components/button.js';
import { ChoiceField } from '../../components/choice-fields.js';
import { Disclosure } from '../../components/disclosure.js';
import { Field, Select } from '../../components/field.js';
import { edgeLooks } from '../../graph/edge-look.js';
import { edgeIds } from '../../graph/graph.js';
import { addLoop, connectNodes, leadsBack, moveEdge } from '../draft.js';
import { NEW_LOOP } from '../loop-fields.js';
import { type NodeControl, setMembers } from './node-control.js';
import { followSummary } from './summaries.js';

const BRANCHES = {
  every: 'Every edge whose condition holds',
  first: 'Only the first edge whose condition holds',
} as const;

/**
 * Shows the outgoing edges of a node and which of them are taken. Its fields add an edge to a chosen node, so that the
 * user need not draw the edge on the canvas.
 */
export function FollowSection(control: NodeControl) {
  const { draft, node, change, onSelectEdge } = control;
  const others = draft.nodes.filter(({ id }) => id !== node.id);
  const later = others.filter(({ id }) => !leadsBack(draft, { from: node.id, to: id }));
  const earlier = draft.nodes.filter(({ id }) => leadsBack(draft, { from: node.id, to: id }));
  return (
    <Disclosure title="Next nodes" summary={followSummary(node, draft.edges)}>
      <ChoiceField
        label="Takes"
        hint={node.branch === 'first' ? 'An edge without a condition is the else, tried last.' : undefined}
        value={node.branch ?? 'every'}
        options={BRANCHES}
        onChange={(branch) => setMembers(control, { branch: branch === 'first' ? branch : undefined })}
      />
      <EdgeList {...control} />
      <NodeChoice
        label="Go on to"
        ids={later.map(({ id }) => id)}
        onChoose={(to) => change((last) => connectNodes(last, { from: node.id, to }))}
      />
      <NodeChoice
        label="Go back to"
        hint="Repeats the nodes between."
        ids={earlier.map(({ id }) => id)}
        onChoose={(to) => {
          change((last) => addLoop(last, node.id, to, NEW_LOOP));
          const edges = addLoop(draft, node.id, to, NEW_LOOP).edges;
          onSelectEdge(edgeIds(edges).at(-1) ?? '');
        }}
      />
    </Disclosure>
  );
}

function EdgeList({ draft, node, change, onSelectEdge }: NodeControl) {
  const ids = edgeIds(draft.edges);
  const looks = edgeLooks(draft);
  const own = draft.edges.flatMap((edge, index) => (edge.from === node.id ? [{ edge, index }] : []));
  if (own.length === 0) return <p className="text-sm text-muted-foreground">No edge leaves this node.</p>;
  return (
    <ol aria-label="Edges" className="space-y-1">
      {own.map(({ edge, index }, rank) => (
        <li key={ids[index]} className="flex items-center gap-1 text-sm">
          <button
            type="button"
            className="min-w-0 grow truncate text-left underline"
            onClick={() => onSelectEdge(ids[index] ?? '')}
          >
            {edge.loop ? 'back to ' : ''}
            {edge.to}
            {looks[index]?.label !== undefined && (
              <span className="font-mono text-xs text-muted-foreground"> {looks[index].label}</span>
            )}
          </button>
          {node.branch === 'first' && !edge.loop && (
            <>
              <Button
                kind="quiet"
                className="px-1!"
                aria-label={`Try ${edge.to} earlier`}
                disabled={rank === 0}
                onClick={() => change((last) => moveEdge(last, index, -1))}
              >
                <ArrowUp className="size-3.5" aria-hidden />
              </Button>
              <Button
                kind="quiet"
                className="px-1!"
                aria-label={`Try ${edge.to} later`}
                disabled={rank === own.length - 1}
                onClick={() => change((last) => moveEdge(last, index, 1))}
              >
                <ArrowDown className="size-3.5" aria-hidden />
              </Button>
            </>
          )}
        </li>
      ))}
    </ol>
  );
}

interface NodeChoiceProps {
  label: string;
  hint?: string;
  ids: readonly string[];
  onChoose: (id: string) => void;
}

/** Shows a choice of a node as the target of an edge. */
export function NodeChoice({ label, hint, ids, onChoose }: NodeChoiceProps) {
  if (ids.length === 0) return null;
  return (
    <Field label={label} hint={hint}>
      {(field) => (
        <Select id={field} value="" onChange={({ target }) => target.value !== '' && onChoose(target.value)}>
          <option value="">Choose a node …</option>
          {ids.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </Select>
      )}
    </Field>
  );
}
