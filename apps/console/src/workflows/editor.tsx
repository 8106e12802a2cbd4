import { useEffect, useMemo, useState } from 'react';
import { preloadCodeEditor } from '../code/code-field.js';
import { PageHeader } from '../components/page-header.js';
import { edgeIds, type DefinitionEdge, type Position } from '../graph/graph.js';
import { LazyCanvas } from '../graph/lazy-canvas.js';
import { addLoop, addNode, connectNodes, type Draft, leadsBack } from './draft.js';
import { CanvasMenu } from './canvas-menu.js';
import { CheckedDraft } from './checked-draft.js';
import { ClipNote } from './clip/clip-note.js';
import { CommandPalette } from './command-palette.js';
import { EditorActions } from './editor-actions.js';
import { moveParts } from './draft-parts.js';
import { draftView } from './draft-view.js';
import { KeysDialog } from './keys/keys-dialog.js';
import { LoopDialog } from './loop-dialog.js';
import { LoopHead } from './loop-head.js';
import { Palette } from './palette.js';
import { ProblemList } from './problem-list.js';
import { PropertiesPanel } from './properties-panel.js';
import { FailureNote } from './revisions/failure-note.js';
import { SaveFault } from './save-fault.js';
import { useChecking } from './use-checking.js';
import { usePluginTypes } from './use-plugin-types.js';
import { useDraft } from './use-draft.js';
import { useEditorTools } from './use-editor-tools.js';
import { confirmLeaving } from './use-leave-question.js';
import { useSaving } from './use-saving.js';
import { useSelection } from './use-selection.js';

interface EditorProps {
  initial: Draft;
  /** Revision of the workflow; `undefined` for a new one. */
  revision: string | undefined;
  isNew: boolean;
  /** Opens another workflow. */
  onOpen: (name: string) => void;
}

/** Shows a workflow on its canvas, with the panel of the selection beside it. */
export function Editor({ initial, revision, isNew, onOpen }: EditorProps) {
  const editing = useDraft(initial);
  const { draft, change } = editing;
  const selection = useSelection();
  const saving = useSaving(editing, { opened: revision, onRejected: selection.selectField });
  const checked = useChecking(draft);
  const plugins = usePluginTypes();
  const [back, setBack] = useState<DefinitionEdge>();
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
  const tools = useEditorTools({ editing, selection, saving, plugins, isNew, addNode: addNodeOfType });
  const { overlay, closeOverlay, commands } = tools;
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
        actions={<EditorActions editing={editing} saving={saving} isNew={isNew} commands={commands} />}
      />
      {!isNew && <FailureNote name={draft.name} />}
      <SaveFault saving={saving} draft={draft} selection={selection} />
      <div className="flex min-h-0 grow flex-col md:flex-row">
        <Palette plugins={plugins} onAdd={(type) => addNodeOfType(type)} />
        <div className="relative min-h-64 min-w-0 grow">
          <LazyCanvas
            label="Workflow"
            graph={draft}
            fits={tools.fits}
            selected={selection.node}
            onSelect={selection.selectNode}
            onSelectEdge={selection.selectEdge}
            dataOf={view.node}
            edgeOf={view.edge}
            loopHead={(loop) => (
              <LoopHead loop={loop} onSelect={() => selection.selectEdge(edgeIds(draft.edges)[loop.edge] ?? '')} />
            )}
            edit={{
              selection,
              select: selection.applyChanges,
              openMenu: tools.openMenu,
              move: (moved) => change((last) => moveParts(last, moved)),
              connect: (edge) => (leadsBack(draft, edge) ? setBack(edge) : change((last) => connectNodes(last, edge))),
              drop: addNodeOfType,
            }}
          />
          <ClipNote clipboard={tools.clipboard} />
          <ProblemList checked={checked} draft={draft} selection={selection} hidden={saving.error !== undefined} />
        </div>
        <CheckedDraft value={checked?.draft === draft ? checked.problems : undefined}>
          <PropertiesPanel
            editing={editing}
            plugins={plugins}
            saving={saving}
            selection={selection}
            commands={commands}
            isNew={isNew}
            found={found}
          />
        </CheckedDraft>
      </div>
      <CanvasMenu
        target={typeof overlay === 'object' ? overlay : undefined}
        commands={commands}
        onPaste={(place) => void tools.clipboard.paste(place)}
        onAddNote={tools.addNote}
        onClose={closeOverlay}
      />
      <KeysDialog open={overlay === 'help'} onClose={closeOverlay} />
      <CommandPalette
        open={overlay === 'palette'}
        items={tools.items}
        name={draft.name}
        onOpen={(name) => (!editing.dirty || confirmLeaving()) && onOpen(name)}
        onClose={closeOverlay}
      />
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
