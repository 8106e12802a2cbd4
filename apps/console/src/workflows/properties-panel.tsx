import { edgeIds } from '../graph/graph.js';
import type { PluginType } from '../nodes/plugin-types.js';
import { type DraftProblems, NO_PROBLEMS } from './draft-problems.js';
import { EdgePanel } from './edge-panel.js';
import type { EditorCommands } from './keys/editor-commands.js';
import { NodePanel } from './node-panel.js';
import { NotePanel } from './note-panel.js';
import { SelectionPanel } from './selection-panel.js';
import type { DraftEditing } from './use-draft.js';
import type { Saving } from './use-saving.js';
import type { Selection } from './use-selection.js';
import { WorkflowPanel } from './workflow-panel.js';

interface PropertiesPanelProps {
  editing: DraftEditing;
  plugins: readonly PluginType[];
  saving: Saving;
  selection: Selection;
  commands: EditorCommands;
  isNew: boolean;
  found: { errors: DraftProblems };
}

/** Shows the panel of the selected part or parts, or of the workflow. */
export function PropertiesPanel(props: PropertiesPanelProps) {
  return (
    <aside
      aria-label="Properties"
      className="max-h-[45%] shrink-0 overflow-y-auto border-t bg-card p-4 md:max-h-none md:w-80 md:border-t-0 md:border-l"
    >
      <PanelOfSelection {...props} />
    </aside>
  );
}

function PanelOfSelection(props: PropertiesPanelProps) {
  const { editing, plugins, saving, selection, commands, isNew, found } = props;
  const { draft, change, saved } = editing;
  const node = draft.nodes.findIndex(({ id }) => id === selection.node);
  if (node >= 0)
    return (
      <NodePanel
        key={node}
        draft={draft}
        plugins={plugins}
        index={node}
        problems={found.errors.nodes.get(node) ?? []}
        change={change}
        onSelect={selection.selectNode}
        onSelectEdge={selection.selectEdge}
        saved={isNew ? undefined : saved}
      />
    );
  const edge = selection.edge === undefined ? -1 : edgeIds(draft.edges).indexOf(selection.edge);
  if (edge >= 0)
    return (
      <EdgePanel
        key={selection.edge}
        draft={draft}
        index={edge}
        problems={found.errors.edges.get(selection.edge ?? '') ?? []}
        change={change}
        onSelect={selection.selectNode}
      />
    );
  const { nodes, edges, notes } = selection;
  const [note] = notes;
  if (note !== undefined && notes.size === 1 && nodes.size + edges.size === 0 && draft.notes?.[note])
    return <NotePanel key={note} draft={draft} index={note} change={change} onDelete={commands.delete.run} />;
  if (nodes.size + edges.size + notes.size > 1) return <SelectionPanel selection={selection} commands={commands} />;
  return (
    <WorkflowPanel
      draft={draft}
      change={change}
      isNew={isNew}
      problems={saving.error === undefined ? NO_PROBLEMS.fields : saving.problems.fields}
      focus={selection.focus}
    />
  );
}
