import { CheckField } from '../components/choice-fields.js';
import { FieldError } from '../components/field.js';
import { choicesOf, initialValue, inputKind, isRequired, type JsonSchema, resolveSchema } from './json-schema.js';
import { BooleanInput, ChoiceInput, JsonInput, ListInput, NumberInput, TextInput } from './schema-inputs.js';

export interface SchemaInputProps {
  schema: JsonSchema;
  /** Root schema, which `$ref` refers to. */
  root: JsonSchema;
  label: string;
  value: unknown;
  /** Called with the new value; `undefined` for none. */
  onChange: (value: unknown) => void;
  required?: boolean;
  /** Returns the service's error at a path relative to the form's value: `''`, `.items[2].id`. */
  errorAt?: ((path: string) => string | undefined) | undefined;
}

/** Shows a form field for a value with a JSON Schema; a JSON editor if no simpler field covers the schema. */
export function SchemaInput(props: SchemaInputProps) {
  const { root, label, value, onChange, required = true, errorAt } = props;
  const schema = resolveSchema(props.schema, root);
  const name = schema.title ?? label;
  const field = {
    label: required ? name : `${name} (optional)`,
    hint: schema.description,
    error: errorAt?.(''),
  };
  switch (inputKind(schema)) {
    case 'object':
      return <ObjectInput {...props} schema={schema} name={name} label={field.label} required={required} />;
    case 'list':
      return (
        <ListInput
          name={name}
          field={field}
          value={value}
          onChange={(items) => onChange(items.length === 0 && !required ? undefined : items)}
          newItem={initialValue(schema.items ?? {}, root)}
        >
          {(item, index, change) => (
            <SchemaInput
              schema={schema.items ?? {}}
              root={root}
              label={`${name} ${index + 1}`}
              value={item}
              onChange={change}
              errorAt={errorAt && ((path) => errorAt(`[${index}]${path}`))}
            />
          )}
        </ListInput>
      );
    case 'choice':
      return (
        <ChoiceInput
          field={field}
          value={value}
          choices={choicesOf(schema) ?? []}
          required={required}
          onChange={onChange}
        />
      );
    case 'boolean':
      return <BooleanInput field={field} value={value} onChange={onChange} />;
    case 'number':
    case 'integer':
      return <NumberInput field={field} schema={schema} value={value} required={required} onChange={onChange} />;
    case 'text':
      return <TextInput field={field} schema={schema} value={value} required={required} onChange={onChange} />;
    default:
      return <JsonInput field={field} value={value} onChange={onChange} />;
  }
}

interface ObjectInputProps extends SchemaInputProps {
  /** Name of the object, shown in its label. */
  name: string;
  required: boolean;
}

/** Shows fields for the members of an object. For an optional object, a checkbox decides if it is given and shown. */
function ObjectInput({ schema, root, name: called, label, value, required, onChange, errorAt }: ObjectInputProps) {
  const isGiven = required || value !== undefined;
  const members = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const changeMember = (name: string, next: unknown): void => {
    const { [name]: _old, ...rest } = members;
    onChange(next === undefined ? rest : { ...members, [name]: next });
  };
  return (
    <fieldset className="space-y-3 rounded-md border p-3">
      <legend className="px-1 text-sm font-medium">{label}</legend>
      {schema.description !== undefined && <p className="text-xs text-muted-foreground">{schema.description}</p>}
      <FieldError error={errorAt?.('')} />
      {!required && (
        <CheckField
          label={`Give ${called}`}
          checked={isGiven}
          onChange={(is) => onChange(is ? (initialValue(schema, root) ?? {}) : undefined)}
        />
      )}
      {isGiven &&
        Object.entries(schema.properties ?? {}).map(([name, member]) => (
          <SchemaInput
            key={name}
            schema={member}
            root={root}
            label={name}
            value={members[name]}
            required={isRequired(schema, name)}
            onChange={(next) => changeMember(name, next)}
            errorAt={errorAt && ((path) => errorAt(`.${name}${path}`))}
          />
        ))}
    </fieldset>
  );
}
