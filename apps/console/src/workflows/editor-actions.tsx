import { History, Keyboard, Redo2, Search, Save, Undo2, WandSparkles } from 'lucide-react';
import { Link } from 'wouter';
import { Button, buttonClass } from '../components/button.js';
import { DeleteWorkflow } from './delete-workflow.js';
import { DescribeDialog } from './describe-dialog.js';
import { JsonDialog } from './json-dialog.js';
import type { EditorCommands } from './keys/editor-commands.js';
import { historyHref } from './revisions/revision-api.js';
import { RunDialog } from './run-dialog.js';
import type { DraftEditing } from './use-draft.js';
import type { Saving } from './use-saving.js';

interface EditorActionsProps {
  editing: DraftEditing;
  saving: Saving;
  isNew: boolean;
  commands: EditorCommands;
}

/** Shows the actions for the workflow as a whole. */
export function EditorActions({ editing, saving, isNew, commands }: EditorActionsProps) {
  const { draft, undo, redo, canUndo, canRedo, dirty } = editing;
  return (
    <>
      <Button kind="quiet" aria-label="Undo" title="Undo (Ctrl+Z)" disabled={!canUndo} onClick={undo}>
        <Undo2 className="size-4" aria-hidden />
      </Button>
      <Button kind="quiet" aria-label="Redo" title="Redo (Ctrl+Y)" disabled={!canRedo} onClick={redo}>
        <Redo2 className="size-4" aria-hidden />
      </Button>
      <Button kind="quiet" onClick={commands.tidyUp.run} disabled={commands.tidyUp.isDisabled}>
        <WandSparkles className="size-4" aria-hidden /> <span className="max-md:sr-only">Tidy up</span>
      </Button>
      <Button
        kind="quiet"
        aria-label="Find nodes and actions"
        title="Find (Ctrl+K)"
        className="max-lg:hidden!"
        onClick={commands.palette.run}
      >
        <Search className="size-4" aria-hidden />
      </Button>
      <Button kind="quiet" aria-label="Keys" title="Keys (?)" className="max-lg:hidden!" onClick={commands.help.run}>
        <Keyboard className="size-4" aria-hidden />
      </Button>
      <DescribeDialog editing={editing} isNew={isNew} />
      <JsonDialog editing={editing} isNew={isNew} />
      {!isNew && (
        <Link href={historyHref(draft.name)} className={buttonClass('quiet')} title="History">
          <History className="size-4" aria-hidden /> <span className="max-md:sr-only">History</span>
        </Link>
      )}
      {!isNew && <DeleteWorkflow name={draft.name} />}
      <Button title="Save (Ctrl+S)" onClick={commands.save.run} disabled={commands.save.isDisabled}>
        <Save className="size-4" aria-hidden /> Save
      </Button>
      <RunDialog draft={draft} save={saving.save} dirty={dirty || isNew} />
    </>
  );
}
