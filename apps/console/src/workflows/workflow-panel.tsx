import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Button } from '../components/button.js';
import { CheckField, OptionalNumber } from '../components/choice-fields.js';
import { Disclosure } from '../components/disclosure.js';
import { Field, FieldError, Input, Select, TextArea } from '../components/field.js';
import { Loading } from '../components/loading.js';
import { BudgetFields } from './budget-fields.js';
import { type Draft, setDraft } from './draft.js';
import type { DraftProblems, WorkflowField } from './draft-problems.js';
import { DurationField } from './duration-field.js';
import { ExitFields } from './exit-fields.js';
import type { DraftEditing } from './use-draft.js';
import type { FieldFocus } from './use-selection.js';
import { proposeName } from './workflow-name.js';

const TemplateGallery = lazy(async () => ({ default: (await import('./template-gallery.js')).TemplateGallery }));

interface WorkflowPanelProps {
  draft: Draft;
  change: DraftEditing['change'];
  isNew: boolean;
  /** Problems of the last save, until the draft changes. */
  problems: DraftProblems['fields'];
  /** Setting that is to get the focus. */
  focus: FieldFocus | undefined;
}

/** Settings that are shown in the section that can be closed. */
const IN_SECTION: ReadonlySet<WorkflowField> = new Set(['inputModes', 'deadline', 'parallel', 'budget', 'onExit']);

/** Shows the settings of the workflow as a whole. */
export function WorkflowPanel({ draft, change, isNew, problems, focus }: WorkflowPanelProps) {
  const panel = useRef<HTMLDivElement>(null);
  const changeDraft = (members: Partial<Draft>, about: string): void =>
    change((last) => setDraft(last, members), about);
  const errorOf = (field: WorkflowField): string | undefined => problems.get(field)?.join(' ');
  const isInSection = focus !== undefined && IN_SECTION.has(focus.field);
  useEffect(() => {
    if (focus) panel.current?.querySelector<HTMLElement>(`[data-field="${focus.field}"] :is(${CONTROLS})`)?.focus();
  }, [focus]);
  return (
    <div ref={panel} className="space-y-4">
      <h2 className="font-semibold">Workflow</h2>
      <div data-field="name">
        <NameField
          value={draft.name}
          isNew={isNew}
          error={errorOf('name')}
          onChange={(name) => changeDraft({ name }, 'name')}
        />
      </div>
      <div data-field="description">
        <Field label="Description" hint="Shown in the directory of agents." error={errorOf('description')}>
          {(id) => (
            <TextArea
              id={id}
              rows={3}
              aria-invalid={errorOf('description') !== undefined}
              value={draft.description}
              onChange={(event) => changeDraft({ description: event.target.value }, 'description')}
            />
          )}
        </Field>
      </div>
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
      <Disclosure
        key={isInSection ? focus.field : ''}
        title="How it runs"
        open={isInSection}
        summary={summarizeSettings(draft)}
      >
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
        <div data-field="inputModes">
          <ModesField value={draft.inputModes} onChange={(inputModes) => changeDraft({ inputModes }, 'inputModes')} />
        </div>
        <div data-field="deadline">
          <DurationField
            label="Deadline of a run"
            placeholder="2h"
            error={errorOf('deadline')}
            value={draft.deadline}
            onChange={(deadline) => changeDraft({ deadline }, 'deadline')}
          />
        </div>
        <div data-field="parallel">
          <OptionalNumber
            label="Nodes at once"
            hint="Counts entries of lists. Empty: no limit."
            min={1}
            error={errorOf('parallel')}
            value={draft.parallel}
            onChange={(parallel) => changeDraft({ parallel }, 'parallel')}
          />
        </div>
        <div data-field="budget" className="space-y-3">
          <BudgetFields
            value={draft.budget}
            error={errorOf('budget')}
            onChange={(budget) => changeDraft({ budget }, 'budget')}
          />
        </div>
        <div data-field="onExit">
          <ExitFields draft={draft} change={change} />
          <FieldError error={errorOf('onExit')} />
        </div>
      </Disclosure>
      {draft.nodes.length === 0 && (
        <p className="text-sm text-muted-foreground">Add a node from the list of types, then select it to set it up.</p>
      )}
      {isNew && draft.nodes.length === 0 && (
        <section aria-label="Begin with a template" className="space-y-2">
          <h3 className="text-sm font-medium">Begin with a template</h3>
          <Suspense fallback={<Loading />}>
            <TemplateGallery dense />
          </Suspense>
        </section>
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

const CONTROLS = 'input, textarea, select, button';

interface NameFieldProps {
  value: string;
  isNew: boolean;
  error: string | undefined;
  onChange: (name: string) => void;
}

/** Shows the input for the name. If the name was rejected, Enter takes the proposed one. */
function NameField({ value, isNew, error, onChange }: NameFieldProps) {
  const proposal = error === undefined ? undefined : proposeName(value);
  return (
    <Field
      label="Name"
      hint={isNew ? 'Letters, digits, _ and -. It becomes part of its address.' : 'The name cannot change.'}
      error={error}
    >
      {(id) => (
        <>
          <Input
            id={id}
            value={value}
            // A disabled field would lose the focus as the workflow is saved.
            readOnly={!isNew}
            className={isNew ? '' : 'bg-muted!'}
            required
            aria-invalid={error !== undefined}
            onChange={(event) => onChange(event.target.value)}
            onKeyDown={({ key }) => key === 'Enter' && proposal !== undefined && onChange(proposal)}
          />
          {proposal !== undefined && isNew && (
            <Button kind="quiet" className="px-1! wrap-anywhere whitespace-normal!" onClick={() => onChange(proposal)}>
              Use {proposal} (Enter)
            </Button>
          )}
        </>
      )}
    </Field>
  );
}

function summarizeSettings({ language, inputModes, deadline, parallel, budget, onExit }: Draft): string | undefined {
  const words = [
    ...(language === 2 ? ['expressions'] : []),
    ...(inputModes === undefined ? [] : [inputModes.join(' ')]),
    ...(deadline === undefined ? [] : [`${deadline} at most`]),
    ...(parallel === undefined ? [] : [`${parallel} at once`]),
    ...(budget?.usd === undefined ? [] : [`$${budget.usd} at most`]),
    ...(budget?.tokens === undefined ? [] : [`${budget.tokens} tokens at most`]),
    ...(onExit ? [`${onExit.map(({ node }) => node).join(', ')} at the end`] : []),
  ];
  return words.length > 0 ? words.join(', ') : undefined;
}
