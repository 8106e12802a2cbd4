import { Trash2 } from 'lucide-react';
import { Button } from '../components/button.js';
import { ChoiceField } from '../components/choice-fields.js';
import { EdgeHeader } from '../graph/edge-header.js';
import { edgeIds, type DefinitionEdge, type SourceOutcome } from '../graph/graph.js';
import { loopsOf } from '../graph/loops.js';
import { type Draft, removeElements, setEdge, setNode } from './draft.js';
import { ExpressionField } from './expression-field.js';
import { LoopFields } from './loop-fields.js';
import { ProblemNotes } from './problem-notes.js';
import type { DraftEditing } from './use-draft.js';

const OUTCOMES: Readonly<Record<SourceOutcome, string>> = {
  success: 'It has completed',
  failure: 'It has failed',
  always: 'It has ended, either way',
};

interface EdgePanelProps {
  draft: Draft;
  index: number;
  problems: readonly string[];
  change: DraftEditing['change'];
  onSelect: (node: string | undefined) => void;
}

/** Shows the condition of an edge, or the settings of a loop. */
export function EdgePanel({ draft, index, problems, change, onSelect }: EdgePanelProps) {
  const edge = draft.edges[index];
  const id = edgeIds(draft.edges)[index];
  if (!edge || id === undefined) return null;
  const changeEdge = (members: Partial<DefinitionEdge>): void =>
    change((last) => setEdge(last, index, members), `${id} ${Object.keys(members).join(' ')}`);
  return (
    <div className="space-y-4" data-panel="edge">
      <EdgeHeader edge={edge} onSelect={onSelect} />
      <ProblemNotes problems={problems} />
      {edge.loop ? (
        <>
          <Body draft={draft} index={index} />
          <LoopFields
            loop={edge.loop}
            path={`edges[${index}]`}
            draft={draft}
            onChange={(loop) => changeEdge({ loop })}
          />
        </>
      ) : (
        <Condition draft={draft} index={index} edge={edge} set={changeEdge} change={change} />
      )}
      <Button
        kind="danger"
        onClick={() => {
          change((last) => removeElements(last, [], [id]));
          onSelect(undefined);
        }}
      >
        <Trash2 className="size-4" aria-hidden /> Delete {edge.loop ? 'loop' : 'edge'}
      </Button>
    </div>
  );
}

interface ConditionProps {
  draft: Draft;
  index: number;
  edge: DefinitionEdge;
  set: (members: Partial<DefinitionEdge>) => void;
  change: DraftEditing['change'];
}

function Condition({ draft, index, edge, set, change }: ConditionProps) {
  const source = draft.nodes.find(({ id }) => id === edge.from);
  const siblings = draft.edges.filter(({ from, loop }) => from === edge.from && !loop);
  const isElse = source?.branch === 'first' && edge.when === undefined && siblings.length > 1;
  return (
    <>
      <ChoiceField
        label={`After ${edge.from}`}
        value={edge.on ?? 'success'}
        options={OUTCOMES}
        hint={
          edge.on === undefined || edge.on === 'success'
            ? undefined
            : 'A failure that takes this edge is handled: the run continues.'
        }
        onChange={(on) => set({ on: on === 'success' ? undefined : on })}
      />
      <ExpressionField
        label="Only when"
        hint={isElse ? 'This is the else: taken where no other edge is.' : 'Empty: always.'}
        placeholder={`nodes.${edge.from}.data.ok`}
        value={edge.when}
        path={`edges[${index}].when`}
        draft={draft}
        onChange={(when) => set({ when })}
      />
      {siblings.length > 1 && siblings.some(({ when }) => when !== undefined) && source && (
        <ChoiceField
          label={`Of the edges of ${edge.from}`}
          value={source.branch ?? 'every'}
          options={{ every: 'Every one is taken whose condition holds', first: 'Only the first one is taken' }}
          onChange={(branch) =>
            change((last) => setNode(last, source.id, { branch: branch === 'first' ? branch : undefined }))
          }
        />
      )}
    </>
  );
}

/** Shows the list of the nodes that a loop repeats. */
function Body({ draft, index }: { draft: Draft; index: number }) {
  const loop = loopsOf(draft.edges).find(({ edge }) => edge === index);
  if (!loop) return null;
  const order = draft.nodes.map(({ id }) => id).filter((id) => loop.body.has(id));
  return <p className="text-sm">Repeats {order.join(', ')}.</p>;
}
