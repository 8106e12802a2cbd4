import type { Action } from '../api/use-action.js';
import { Field, Input, Select } from '../components/field.js';
import { type Defaults, DEFAULT_NUMBERS } from './model-defaults.js';

/** Shows the fields of the settings that apply to nodes which set none. */
export function ModelDefaultsFields({
  defaults = {},
  action,
}: {
  defaults?: Defaults | undefined;
  action: Pick<Action, 'errorAt' | 'errorIn'>;
}) {
  return (
    <details open={Object.keys(defaults).length > 0} className="space-y-5 rounded-md border border-border p-3">
      <summary className="cursor-pointer text-sm font-medium">Defaults for nodes that set none</summary>
      {DEFAULT_NUMBERS.map(({ field, label, ...limits }) => (
        <Field key={field} label={label} error={action.errorAt(`defaults.${field}`)}>
          {(id) => (
            <Input id={id} name={`defaults.${field}`} type="number" {...limits} defaultValue={defaults[field]} />
          )}
        </Field>
      ))}
      <Field
        label="Texts before which an answer ends"
        hint="Up to four, separated by commas."
        error={action.errorIn('defaults.stop')}
      >
        {(id) => <Input id={id} name="defaults.stop" defaultValue={defaults.stop?.join(', ')} />}
      </Field>
      <Field
        label="Tool calls"
        hint="By a schema, if the endpoint cannot call tools itself."
        error={action.errorAt('defaults.toolCalls')}
      >
        {(id) => (
          <Select id={id} name="defaults.toolCalls" defaultValue={defaults.toolCalls ?? ''}>
            <option value="">By the API of the provider</option>
            <option value="schema">By a schema</option>
          </Select>
        )}
      </Field>
    </details>
  );
}
