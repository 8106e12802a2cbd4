import { Field, TextArea } from '../components/field.js';
import type { GraphNode } from '../graph/graph.js';
import { type InputValues, mayBeLeftOut, schemaOfInput } from './run-inputs.js';
import type { JsonSchema } from './json-schema.js';
import { SchemaInput } from './schema-form.js';

interface InputsFormProps {
  nodes: readonly GraphNode[];
  values: InputValues;
  onChange: (values: InputValues) => void;
  /** Returns the service's error at a path of the request, such as `inputs.topic` or `inputs.order.items[2]`. */
  errorAt: (path: string) => string | undefined;
}

/** Shows a form field for each input node of a run, by the node's schema or as a text. */
export function InputsForm({ nodes, values, onChange, errorAt }: InputsFormProps) {
  return nodes.map((node) => {
    const { id } = node;
    const schema = schemaOfInput(node);
    const value = values[id];
    const changeInput = (next: unknown): void => onChange({ ...values, [id]: next });
    if (schema) {
      return (
        <SchemaInput
          key={id}
          schema={withHint(schema, node)}
          root={schema}
          label={id}
          value={value}
          required={!mayBeLeftOut(node)}
          onChange={changeInput}
          errorAt={(path) => errorAt(`inputs.${id}${path}`)}
        />
      );
    }
    return (
      <Field
        key={id}
        label={mayBeLeftOut(node) ? `${id} (optional)` : id}
        hint={descriptionOf(node)}
        error={errorAt(`inputs.${id}`)}
      >
        {(field) => (
          <TextArea
            id={field}
            rows={3}
            placeholder={defaultOf(node)}
            value={typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)}
            onChange={({ target }) => changeInput(target.value)}
          />
        )}
      </Field>
    );
  });
}

function descriptionOf({ config }: GraphNode): string | undefined {
  const said = config['description'];
  return typeof said === 'string' && said !== '' ? said : undefined;
}

/** Returns a node's schema whose description also has the node's description and default. */
function withHint(schema: JsonSchema, node: GraphNode): JsonSchema {
  const [said, byDefault] = [schema.description ?? descriptionOf(node), defaultOf(node)];
  const words = [said, byDefault !== undefined && `Default: ${byDefault}`].filter(Boolean);
  return words.length === 0 ? schema : { ...schema, description: words.join(' ') };
}

function defaultOf({ config }: GraphNode): string | undefined {
  const value = config['default'];
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}
