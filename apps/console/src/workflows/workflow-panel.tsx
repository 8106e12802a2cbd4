import { Field, Input, Select, TextArea } from '../components/field.js';
import type { Draft } from './draft.js';
import type { DraftEditing } from './use-draft.js';

interface WorkflowPanelProps {
  draft: Draft;
  change: DraftEditing['change'];
  isNew: boolean;
}

/** What is said of the workflow as a whole. */
export function WorkflowPanel({ draft, change, isNew }: WorkflowPanelProps) {
  const set = (members: Partial<Draft>, about: string): void => change((last) => ({ ...last, ...members }), about);
  return (
    <div className="space-y-4">
      <h2 className="font-semibold">Workflow</h2>
      <Field label="Name" hint={isNew ? 'Letters, digits, _ and -. It becomes part of its address.' : 'A name stays.'}>
        {(id) => (
          <Input
            id={id}
            value={draft.name}
            disabled={!isNew}
            required
            onChange={(event) => set({ name: event.target.value }, 'name')}
          />
        )}
      </Field>
      <Field label="Description" hint="What others read in the directory of agents.">
        {(id) => (
          <TextArea
            id={id}
            rows={3}
            value={draft.description}
            onChange={(event) => set({ description: event.target.value }, 'description')}
          />
        )}
      </Field>
      <Field label="When a node fails">
        {(id) => (
          <Select
            id={id}
            value={draft.onFailure}
            onChange={(event) => set({ onFailure: event.target.value as Draft['onFailure'] }, 'onFailure')}
          >
            <option value="cancel">Cancel the whole run</option>
            <option value="continue">Finish what does not depend on it</option>
          </Select>
        )}
      </Field>
      {draft.nodes.length === 0 && (
        <p className="text-sm text-muted-foreground">Add a node from the list of types, then select it to set it up.</p>
      )}
    </div>
  );
}
