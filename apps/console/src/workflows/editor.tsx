import { useEffect, useMemo, useState } from 'react';
import { preloadCodeEditor } from '../code/code-field.js';
import { PageHeader } from '../components/page-header.js';
import { edgeIds, type DefinitionEdge, type Position } from '../graph/graph.js';
import { LazyCanvas } from '../graph/lazy-canvas.js';
import type { PluginType } from '../nodes/plugin-types.js';
import { addLoop, addNode, connectNodes, type Draft, leadsBack, moveNodes, removeElements } from './draft.js';
import { CheckedDraft } from './checked-draft.js';
import { EdgePanel } from './edge-panel.js';
import { EditorActions } from './editor-actions.js';
import { NO_PROBLEMS } from './draft-problems.js';
import { draftView } from './draft-view.js';
import { LoopDialog } from './loop-dialog.js';
import { LoopHead } from './loop-head.js';
import { NodePanel } from './node-panel.js';
import { Palette } from './palette.js';
import { ProblemList } from './problem-list.js';
import { FailureNote } from './revisions/failure-note.js';
import { SaveFault } from './save-fault.js';
import { useChecking } from './use-checking.js';
import { usePluginTypes } from './use-plugin-types.js';
import { type DraftEditing, useDraft } from './use-draft.js';
import { type Saving, useSaving } from './use-saving.js';
import { useSelection, type Selection } from './use-selection.js';
import { WorkflowPanel } from './workflow-panel.js';

interface EditorProps {
  initial: Draft;
  /** Revision of the workflow; `undefined` for a new one. */
  revision: string | undefined;
  isNew: boolean;
}

/** Shows a workflow on its canvas, with the panel of the selection beside it. */
export function Editor({ initial, revision, isNew }: EditorProps) {
  const editing = useDraft(initial);
  const { draft, change } = editing;
  const selection = useSelection();
  const saving = useSaving(editing, { opened: revision, onRejected: selection.selectField });
  const checked = useChecking(draft);
  const plugins = usePluginTypes();
  const [back, setBack] = useState<DefinitionEdge>();
  const [fits, setFits] = useState(0);
  useEffect(preloadCodeEditor, []);
  const found = useMemo(
    () => ({ errors: checked?.errors ?? saving.problems, warnings: checked?.warnings ?? saving.warnings }),
    [checked, saving.problems, saving.warnings],
  );
  const view = useMemo(() => draftView(draft, found), [draft, found]);
  const addNodeOfType = (type: string, position?: Position): void => {
    const added = addNode(draft, type, position, selection.node);
    change(() => added.draft);
    selection.selectNode(added.id);
  };
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title={isNew ? draft.name || 'New workflow' : draft.name}
        tab={[editing.dirty ? 'Not saved' : undefined, draft.name || 'New workflow']}
        up={{ label: 'Workflows', href: '~/workflows' }}
        aside={
          <span role="status" className="text-xs text-muted-foreground">
            {editing.dirty ? 'Not saved' : saving.hasSaved && 'Saved'}
          </span>
        }
        actions={
          <EditorActions editing={editing} saving={saving} isNew={isNew} onTidied={() => setFits((last) => last + 1)} />
        }
      />
      {!isNew && <FailureNote name={draft.name} />}
      <SaveFault saving={saving} draft={draft} selection={selection} />
      <div className="flex min-h-0 grow flex-col md:flex-row">
        <Palette plugins={plugins} onAdd={(type) => addNodeOfType(type)} />
        <div className="relative min-h-64 min-w-0 grow">
          <LazyCanvas
            label="Workflow"
            graph={draft}
            fits={fits}
            selected={selection.node}
            onSelect={selection.selectNode}
            selectedEdge={selection.edge}
            onSelectEdge={selection.selectEdge}
            dataOf={view.node}
            edgeOf={view.edge}
            loopHead={(loop) => (
              <LoopHead loop={loop} onSelect={() => selection.selectEdge(edgeIds(draft.edges)[loop.edge] ?? '')} />
            )}
            edit={{
              move: (moved) => change((last) => moveNodes(last, moved)),
              connect: (edge) => (leadsBack(draft, edge) ? setBack(edge) : change((last) => connectNodes(last, edge))),
              remove: (nodes, edges) => change((last) => removeElements(last, nodes, edges)),
              drop: addNodeOfType,
            }}
          />
          <ProblemList checked={checked} draft={draft} selection={selection} hidden={saving.error !== undefined} />
        </div>
        <CheckedDraft value={checked?.draft === draft ? checked.problems : undefined}>
          <Panel
            editing={editing}
            plugins={plugins}
            saving={saving}
            selection={selection}
            isNew={isNew}
            found={found}
          />
        </CheckedDraft>
      </div>
      <LoopDialog
        draft={draft}
        edge={back}
        onClose={() => setBack(undefined)}
        onMake={(loop) => {
          if (!back) return;
          const made = addLoop(draft, back.from, back.to, loop);
          change(() => made);
          selection.selectEdge(edgeIds(made.edges).at(-1) ?? '');
          setBack(undefined);
        }}
      />
    </div>
  );
}

interface PanelProps {
  editing: DraftEditing;
  plugins: readonly PluginType[];
  saving: Saving;
  selection: Selection;
  isNew: boolean;
  found: { errors: Saving['problems'] };
}

/** Shows the panel of the selected node or edge, or of the workflow. */
function Panel({ editing: { draft, change, dirty }, plugins, saving, selection, isNew, found }: PanelProps) {
  const node = draft.nodes.findIndex(({ id }) => id === selection.node);
  const edge = selection.edge === undefined ? -1 : edgeIds(draft.edges).indexOf(selection.edge);
  return (
    <aside
      aria-label="Properties"
      className="max-h-[45%] shrink-0 overflow-y-auto border-t bg-card p-4 md:max-h-none md:w-80 md:border-t-0 md:border-l"
    >
      {node >= 0 ? (
        <NodePanel
          key={node}
          draft={draft}
          plugins={plugins}
          index={node}
          problems={found.errors.nodes.get(node) ?? []}
          change={change}
          onSelect={selection.selectNode}
          onSelectEdge={selection.selectEdge}
          dirty={isNew ? undefined : dirty}
        />
      ) : edge >= 0 ? (
        <EdgePanel
          key={selection.edge}
          draft={draft}
          index={edge}
          problems={found.errors.edges.get(selection.edge ?? '') ?? []}
          change={change}
          onSelect={selection.selectNode}
        />
      ) : (
        <WorkflowPanel
          draft={draft}
          change={change}
          isNew={isNew}
          problems={saving.error === undefined ? NO_PROBLEMS.fields : saving.problems.fields}
          focus={selection.focus}
        />
      )}
    </aside>
  );
}
