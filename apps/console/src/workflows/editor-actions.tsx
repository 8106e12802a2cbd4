import { History, Redo2, Save, Undo2, WandSparkles } from 'lucide-react';
import { Link } from 'wouter';
import { Button, buttonClass } from '../components/button.js';
import { DeleteWorkflow } from './delete-workflow.js';
import { DescribeDialog } from './describe-dialog.js';
import { moveNodes } from './draft.js';
import { JsonDialog } from './json-dialog.js';
import { historyHref } from './revisions/revision-api.js';
import { RunDialog } from './run-dialog.js';
import type { DraftEditing } from './use-draft.js';
import type { Saving } from './use-saving.js';

interface EditorActionsProps {
  editing: DraftEditing;
  saving: Saving;
  isNew: boolean;
  /** Called after the nodes have been laid out. */
  onTidied: () => void;
}

/** Shows the actions for the workflow as a whole. */
export function EditorActions({ editing, saving, isNew, onTidied }: EditorActionsProps) {
  const { draft, change, undo, redo, canUndo, canRedo, dirty } = editing;
  const tidyUp = async (): Promise<void> => {
    const { layoutAside } = await import('../graph/layout-aside.js');
    const places = await layoutAside(draft);
    change((last) => moveNodes(last, places));
    onTidied();
  };
  return (
    <>
      <Button kind="quiet" aria-label="Undo" title="Undo (Ctrl+Z)" disabled={!canUndo} onClick={undo}>
        <Undo2 className="size-4" aria-hidden />
      </Button>
      <Button kind="quiet" aria-label="Redo" title="Redo (Ctrl+Y)" disabled={!canRedo} onClick={redo}>
        <Redo2 className="size-4" aria-hidden />
      </Button>
      <Button kind="quiet" onClick={() => void tidyUp()} disabled={draft.nodes.length === 0}>
        <WandSparkles className="size-4" aria-hidden /> <span className="max-md:sr-only">Tidy up</span>
      </Button>
      <DescribeDialog editing={editing} isNew={isNew} />
      <JsonDialog editing={editing} isNew={isNew} />
      {!isNew && (
        <Link href={historyHref(draft.name)} className={buttonClass('quiet')} title="History">
          <History className="size-4" aria-hidden /> <span className="max-md:sr-only">History</span>
        </Link>
      )}
      {!isNew && <DeleteWorkflow name={draft.name} />}
      <Button onClick={() => void saving.save()} disabled={saving.busy || (!dirty && !isNew)}>
        <Save className="size-4" aria-hidden /> Save
      </Button>
      <RunDialog draft={draft} save={saving.save} dirty={dirty || isNew} />
    </>
  );
}
