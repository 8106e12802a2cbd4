import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Section } from '../../components/page-header.js';
import { ResourceView } from '../../components/resource-view.js';
import type { GraphChange } from '../../graph/card-data.js';
import { changeLook, GRAPH_CHANGES } from '../../graph/change-look.js';
import type { Graph } from '../../graph/graph.js';
import { LazyCanvas } from '../../graph/lazy-canvas.js';
import { nodeLook } from '../../nodes/node-looks.js';
import { diffGraph } from './diff-graph.js';
import { diffRevisions, type FieldChange, getRevision, type RevisionDiff } from './revision-api.js';

interface RevisionDiffProps {
  name: string;
  before: string;
  after: string;
}

/** Shows what differs between two revisions: on the canvas, and as text. */
export function RevisionDiffView({ name, before, after }: RevisionDiffProps) {
  const resource = useQuery({
    queryKey: ['revision-diff', name, before, after],
    queryFn: async ({ signal }) => {
      const [old, current, diff] = await Promise.all([
        getRevision(name, before, signal),
        getRevision(name, after, signal),
        diffRevisions(name, { before, after }, signal),
      ]);
      return { old, current, diff };
    },
  });
  return (
    <ResourceView resource={resource}>
      {({ old, current, diff }) => (
        <div className="space-y-4">
          <DiffCanvas key={`${before} ${after}`} before={old} after={current} diff={diff} />
          <DiffText diff={diff} />
        </div>
      )}
    </ResourceView>
  );
}

function DiffCanvas({ before, after, diff }: { before: Graph; after: Graph; diff: RevisionDiff }) {
  const [selected, setSelected] = useState<string>();
  const { graph, nodeOf, edgeOf } = useMemo(() => diffGraph(before, after, diff), [before, after, diff]);
  return (
    <div className="space-y-2">
      <Legend />
      <div className="h-[45vh] min-h-64 rounded-md border">
        <LazyCanvas
          label="Differences"
          graph={graph}
          selected={selected}
          onSelect={setSelected}
          dataOf={nodeOf}
          edgeOf={edgeOf}
        />
      </div>
    </div>
  );
}

/** Shows what the signs and colors on the canvas stand for. */
function Legend() {
  return (
    <ul aria-label="Legend" className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
      {GRAPH_CHANGES.map((change) => (
        <li key={change}>
          <ChangeWord change={change} />
        </li>
      ))}
      <li className="text-muted-foreground">Removed nodes and edges are dashed.</li>
    </ul>
  );
}

function ChangeWord({ change }: { change: GraphChange }) {
  const { sign, label, text } = changeLook(change);
  return (
    <span className={`font-medium ${text}`}>
      <span aria-hidden className="mr-1 font-mono">
        {sign}
      </span>
      {label}
    </span>
  );
}

function DiffText({ diff: { fields, nodes, edges, truncated } }: { diff: RevisionDiff }) {
  const isEqual = fields.length + nodes.length + edges.length === 0;
  return (
    <Section title="Changes">
      {isEqual && <p className="text-sm">The two revisions are equal.</p>}
      <ul className="space-y-3 text-sm">
        {fields.length > 0 && (
          <li data-change="changed">
            <ChangeWord change="changed" /> workflow
            <Fields fields={fields} />
          </li>
        )}
        {nodes.map(({ id, type, change, fields: members }) => (
          <li key={id} data-change={change}>
            <ChangeWord change={change} /> node <b className="wrap-anywhere">{id}</b> ({nodeLook(type).label})
            <Fields fields={members} />
          </li>
        ))}
        {edges.map(({ from, to, change, index, fields: members }) => (
          <li key={`${change} ${index}`} data-change={change}>
            <ChangeWord change={change} /> edge{' '}
            <b className="wrap-anywhere">
              {from} → {to}
            </b>
            <Fields fields={members} />
          </li>
        ))}
      </ul>
      {truncated && <p className="text-sm">There are more than 1,000 differences; the others are not shown.</p>}
    </Section>
  );
}

function Fields({ fields }: { fields: readonly FieldChange[] }) {
  if (fields.length === 0) return null;
  return (
    <dl className="mt-1 space-y-2 border-l-2 pl-3">
      {fields.map(({ path, before, after }) => (
        <div key={path}>
          <dt className="font-mono text-xs wrap-anywhere">{path}</dt>
          {before !== undefined && <Value sign="−" title="Before" value={before} />}
          {after !== undefined && <Value sign="+" title="After" value={after} />}
        </div>
      ))}
    </dl>
  );
}

function Value({ sign, title, value }: { sign: '−' | '+'; title: string; value: unknown }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const tone = sign === '+' ? 'border-success/40 bg-success/5' : 'border-destructive/40 bg-destructive/5';
  return (
    <dd className={`mt-1 flex gap-2 rounded border px-2 py-1 font-mono text-xs ${tone}`}>
      <span className="sr-only">{title}: </span>
      <span aria-hidden>{sign}</span>
      <span className="min-w-0 whitespace-pre-wrap wrap-anywhere">{text}</span>
    </dd>
  );
}
