import { useMemo, useState } from 'react';
import { PageHeader } from '../components/page-header.js';
import type { Position } from '../graph/graph.js';
import { LazyCanvas } from '../graph/lazy-canvas.js';
import { addNode, connect, type Draft, move, remove } from './draft.js';
import { EditorActions } from './editor-actions.js';
import { NodePanel } from './node-panel.js';
import { Palette } from './palette.js';
import { SaveFault } from './save-fault.js';
import { useDraft } from './use-draft.js';
import { useSaving } from './use-saving.js';
import { WorkflowPanel } from './workflow-panel.js';

/** A workflow on its canvas, with what its nodes do beside it. */
export function Editor({ initial, isNew }: { initial: Draft; isNew: boolean }) {
  const editing = useDraft(initial);
  const { draft, change } = editing;
  const [selected, setSelected] = useState<string>();
  const saving = useSaving(editing, isNew);
  const index = draft.nodes.findIndex(({ id }) => id === selected);
  const problemsOf = useMemo(() => {
    const byId = new Map(draft.nodes.map(({ id }, at) => [id, saving.problems.nodes.get(at)]));
    return (id: string) => ({ problems: byId.get(id) ?? [] });
  }, [draft.nodes, saving.problems]);
  const add = (type: string, position?: Position): void => {
    const added = addNode(draft, type, position);
    change(() => added.draft);
    setSelected(added.id);
  };
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title={isNew ? draft.name || 'New workflow' : draft.name}
        up={{ label: 'Workflows', href: '~/workflows' }}
        aside={editing.dirty && <span className="text-xs text-muted-foreground">Not saved</span>}
        actions={<EditorActions editing={editing} saving={saving} isNew={isNew} />}
      />
      <SaveFault saving={saving} draft={draft} onSelect={setSelected} />
      <div className="flex min-h-0 grow flex-col md:flex-row">
        <Palette onAdd={(type) => add(type)} />
        <div className="relative min-h-64 min-w-0 grow">
          <LazyCanvas
            label="Workflow"
            graph={draft}
            selected={selected}
            onSelect={setSelected}
            dataOf={problemsOf}
            edit={{
              move: (moved) => change((last) => move(last, moved)),
              connect: (edge) => change((last) => connect(last, edge)),
              remove: (nodes, edges) => change((last) => remove(last, nodes, edges)),
              drop: add,
            }}
          />
        </div>
        <aside
          aria-label="Properties"
          className="max-h-[45%] shrink-0 overflow-y-auto border-t bg-card p-4 md:max-h-none md:w-80 md:border-t-0 md:border-l"
        >
          {index < 0 ? (
            <WorkflowPanel draft={draft} change={change} isNew={isNew} />
          ) : (
            <NodePanel
              key={index}
              draft={draft}
              index={index}
              problems={saving.problems.nodes.get(index) ?? []}
              change={change}
              onSelect={setSelected}
            />
          )}
        </aside>
      </div>
    </div>
  );
}
