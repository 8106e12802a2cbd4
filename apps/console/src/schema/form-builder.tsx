import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../components/button.js';
import { CheckField, ChoiceField } from '../components/choice-fields.js';
import { Field, Input, TextArea } from '../components/field.js';
import { FIELD_KINDS, type FormField, freeName, NEW_FIELD } from './form-fields.js';

interface FormBuilderProps {
  fields: readonly FormField[];
  onChange: (fields: FormField[]) => void;
}

/** Shows the fields of a form, with controls to add, change, move and remove them. */
export function FormBuilder({ fields, onChange }: FormBuilderProps) {
  const changeField = (at: number, members: Partial<FormField>): void =>
    onChange(fields.map((field, index) => (index === at ? { ...field, ...members } : field)));
  const swapFields = (at: number, by: number): void => {
    const next = [...fields];
    const [one, two] = [next[at], next[at + by]];
    if (one && two) next.splice(Math.min(at, at + by), 2, ...(by > 0 ? [two, one] : [one, two]));
    onChange(next);
  };
  return (
    <div className="space-y-2">
      <ol aria-label="Fields" className="space-y-2">
        {fields.map((field, index) => (
          <li key={index} className="space-y-2 rounded-md border p-2.5">
            <div className="flex items-center gap-1">
              <span className="grow text-sm font-medium">{field.title || field.name}</span>
              <MoveButton name={field.name} up disabled={index === 0} onClick={() => swapFields(index, -1)} />
              <MoveButton
                name={field.name}
                disabled={index === fields.length - 1}
                onClick={() => swapFields(index, 1)}
              />
              <Button
                kind="quiet"
                className="px-1!"
                aria-label={`Remove the field ${field.name}`}
                onClick={() => onChange(fields.filter((_, at) => at !== index))}
              >
                <X className="size-4" aria-hidden />
              </Button>
            </div>
            <FieldEditor
              field={field}
              taken={fields.filter((_, at) => at !== index).map(({ name }) => name)}
              onChange={(members) => changeField(index, members)}
            />
          </li>
        ))}
      </ol>
      <Button onClick={() => onChange([...fields, { ...NEW_FIELD, name: freeName(fields) }])}>
        <Plus className="size-4" aria-hidden /> Add a field
      </Button>
    </div>
  );
}

interface FieldEditorProps {
  field: FormField;
  taken: readonly string[];
  onChange: (members: Partial<FormField>) => void;
}

function FieldEditor({ field, taken, onChange }: FieldEditorProps) {
  return (
    <>
      <NameField name={field.name} taken={taken} onChange={(name) => onChange({ name })} />
      <ChoiceField label="Kind" value={field.kind} options={FIELD_KINDS} onChange={(kind) => onChange({ kind })} />
      {field.kind === 'choice' && (
        <ChoicesField choices={field.choices} onChange={(choices) => onChange({ choices })} />
      )}
      <Field label="Title">
        {(id) => <Input id={id} value={field.title} onChange={({ target }) => onChange({ title: target.value })} />}
      </Field>
      <Field label="Description">
        {(id) => (
          <Input id={id} value={field.description} onChange={({ target }) => onChange({ description: target.value })} />
        )}
      </Field>
      <CheckField label="Required" checked={field.required} onChange={(required) => onChange({ required })} />
    </>
  );
}

interface NameFieldProps {
  name: string;
  taken: readonly string[];
  onChange: (name: string) => void;
}

/** Shows the input for a field's name. A name is applied if it is not empty and no other field has it. */
function NameField({ name, taken, onChange }: NameFieldProps) {
  const [text, setText] = useState(name);
  const fault =
    text === '' ? 'A field needs a name.' : taken.includes(text) ? 'Another field has this name.' : undefined;
  return (
    <Field label="Field name" error={fault}>
      {(id) => (
        <Input
          id={id}
          value={text}
          spellCheck={false}
          onChange={({ target }) => {
            setText(target.value);
            if (target.value !== '' && !taken.includes(target.value)) onChange(target.value);
          }}
        />
      )}
    </Field>
  );
}

interface ChoicesFieldProps {
  choices: readonly string[];
  onChange: (choices: string[]) => void;
}

/** Shows an input for choices, one per line. */
export function ChoicesField({ choices, onChange }: ChoicesFieldProps) {
  const [text, setText] = useState(() => choices.join('\n'));
  return (
    <Field label="Choices" hint="One per line.">
      {(id) => (
        <TextArea
          id={id}
          rows={3}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            onChange([...new Set(target.value.split('\n').map((it) => it.trim()))].filter((it) => it !== ''));
          }}
        />
      )}
    </Field>
  );
}

interface MoveButtonProps {
  name: string;
  up?: boolean;
  disabled: boolean;
  onClick: () => void;
}

function MoveButton({ name, up = false, disabled, onClick }: MoveButtonProps) {
  const Icon = up ? ArrowUp : ArrowDown;
  const label = `Move the field ${name} ${up ? 'up' : 'down'}`;
  return (
    <Button kind="quiet" className="px-1!" aria-label={label} disabled={disabled} onClick={onClick}>
      <Icon className="size-4" aria-hidden />
    </Button>
  );
}
