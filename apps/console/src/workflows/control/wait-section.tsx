import { CheckField } from '../../components/choice-fields.js';
import { Disclosure } from '../../components/disclosure.js';
import type { GraphNode } from '../../graph/graph.js';
import { initialValue, isSchema } from '../../schema/json-schema.js';
import { SchemaInput } from '../../schema/schema-form.js';
import { DurationField } from '../duration-field.js';
import { type NodeControl, setMembers } from './node-control.js';
import { waitSummary } from './summaries.js';

/** Shows the settings for a question that gets no answer in time. */
export function WaitSection(control: NodeControl) {
  const { node } = control;
  const { onWait } = node;
  const changeWait = (members: Partial<NonNullable<GraphNode['onWait']>>): void => {
    const next = Object.entries({ deadline: '', ...onWait, ...members }).filter(([, value]) => value !== undefined);
    setMembers(control, { onWait: Object.fromEntries(next) as NonNullable<GraphNode['onWait']> });
  };
  return (
    <Disclosure title="Without an answer" summary={waitSummary(node)}>
      <CheckField
        label="Limit the wait for an answer"
        checked={onWait !== undefined}
        onChange={(is) => setMembers(control, { onWait: is ? { deadline: '48h' } : undefined })}
      />
      {onWait && (
        <>
          <DurationField
            label="Answer within"
            value={onWait.deadline}
            onChange={(deadline) => changeWait({ deadline: deadline ?? '' })}
          />
          <CheckField
            label="Then answer by default"
            hint="Without it the node fails."
            checked={onWait.default !== undefined}
            onChange={(is) => changeWait({ default: is ? firstAnswer(node) : undefined })}
          />
          {onWait.default !== undefined && (
            <DefaultAnswer
              node={node}
              value={onWait.default}
              onChange={(value) => changeWait({ default: value ?? '' })}
            />
          )}
        </>
      )}
    </Disclosure>
  );
}

interface DefaultAnswerProps {
  node: GraphNode;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** Shows an input for the default answer, by the schema of the question's form or as a text. */
function DefaultAnswer({ node, value, onChange }: DefaultAnswerProps) {
  const form = formOf(node);
  const schema = form ?? (typeof value === 'string' ? { type: 'string' } : {});
  return <SchemaInput schema={schema} root={schema} label="Default answer" value={value} onChange={onChange} />;
}

function formOf({ config }: GraphNode) {
  const form = config['form'];
  return isSchema(form) ? form : undefined;
}

function firstAnswer(node: GraphNode): unknown {
  const form = formOf(node);
  return form ? (initialValue(form, form) ?? {}) : '';
}
