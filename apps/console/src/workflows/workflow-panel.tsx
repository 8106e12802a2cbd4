import { useState } from 'react';
import { CheckField, OptionalNumber } from '../components/choice-fields.js';
import { Disclosure } from '../components/disclosure.js';
import { Field, Input, Select, TextArea } from '../components/field.js';
import { type Draft, setDraft } from './draft.js';
import { DurationField } from './duration-field.js';
import { ExitFields } from './exit-fields.js';
import type { DraftEditing } from './use-draft.js';

interface WorkflowPanelProps {
  draft: Draft;
  change: DraftEditing['change'];
  isNew: boolean;
}

/** Shows the settings of the workflow as a whole. */
export function WorkflowPanel({ draft, change, isNew }: WorkflowPanelProps) {
  const changeDraft = (members: Partial<Draft>, about: string): void =>
    change((last) => setDraft(last, members), about);
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
            onChange={(event) => changeDraft({ name: event.target.value }, 'name')}
          />
        )}
      </Field>
      <Field label="Description" hint="Shown in the directory of agents.">
        {(id) => (
          <TextArea
            id={id}
            rows={3}
            value={draft.description}
            onChange={(event) => changeDraft({ description: event.target.value }, 'description')}
          />
        )}
      </Field>
      <Field label="When a node fails">
        {(id) => (
          <Select
            id={id}
            value={draft.onFailure}
            onChange={(event) => changeDraft({ onFailure: event.target.value as Draft['onFailure'] }, 'onFailure')}
          >
            <option value="cancel">Cancel the whole run</option>
            <option value="continue">Finish nodes that do not depend on it</option>
          </Select>
        )}
      </Field>
      <Disclosure title="How it runs" summary={summarizeSettings(draft)}>
        <CheckField
          label="Expressions in texts"
          hint={
            <>
              <code>{'${…}'}</code> in a prompt or a value is an expression of CEL.
            </>
          }
          checked={draft.language === 2}
          onChange={(is) => changeDraft({ language: is ? 2 : undefined }, 'language')}
        />
        <ModesField value={draft.inputModes} onChange={(inputModes) => changeDraft({ inputModes }, 'inputModes')} />
        <DurationField
          label="Deadline of a run"
          placeholder="2h"
          value={draft.deadline}
          onChange={(deadline) => changeDraft({ deadline }, 'deadline')}
        />
        <OptionalNumber
          label="Nodes at once"
          hint="Counts entries of lists. Empty: no limit."
          min={1}
          value={draft.parallel}
          onChange={(parallel) => changeDraft({ parallel }, 'parallel')}
        />
        <ExitFields draft={draft} change={change} />
      </Disclosure>
      {draft.nodes.length === 0 && (
        <p className="text-sm text-muted-foreground">Add a node from the list of types, then select it to set it up.</p>
      )}
    </div>
  );
}

interface ModesFieldProps {
  value: readonly string[] | undefined;
  onChange: (value: string[] | undefined) => void;
}

/** Shows the media types of Messages to the workflow as a list with commas. */
function ModesField({ value, onChange }: ModesFieldProps) {
  const [text, setText] = useState(() => (value ?? []).join(', '));
  const changeModes = (typed: string): void => {
    setText(typed);
    const modes = typed.split(/[\s,]+/).filter((mode) => mode !== '');
    onChange(modes.length > 0 ? modes : undefined);
  };
  return (
    <Field label="Media types" hint="Types of messages to the workflow. Empty: all that its first nodes read.">
      {(id) => (
        <Input
          id={id}
          value={text}
          placeholder="text/plain, image/*"
          spellCheck={false}
          onChange={({ target }) => changeModes(target.value)}
        />
      )}
    </Field>
  );
}

function summarizeSettings({ language, inputModes, deadline, parallel, onExit }: Draft): string | undefined {
  const words = [
    ...(language === 2 ? ['expressions'] : []),
    ...(inputModes === undefined ? [] : [inputModes.join(' ')]),
    ...(deadline === undefined ? [] : [`${deadline} at most`]),
    ...(parallel === undefined ? [] : [`${parallel} at once`]),
    ...(onExit ? [`${onExit.map(({ node }) => node).join(', ')} at the end`] : []),
  ];
  return words.length > 0 ? words.join(', ') : undefined;
}
