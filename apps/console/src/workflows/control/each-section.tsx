import { CheckField, ChoiceField, OptionalNumber } from '../../components/choice-fields.js';
import { Disclosure } from '../../components/disclosure.js';
import { Field, Input } from '../../components/field.js';
import type { Each } from '../../graph/graph.js';
import { ExpressionField } from '../expression-field.js';
import { type NodeControl, setMembers } from './node-control.js';
import { eachSummary } from './summaries.js';

const POLICIES = {
  fail: 'Fail the node and stop the other entries',
  collect: 'Continue with the other entries',
} as const;

/** Shows the settings of a node that runs once for each entry of a list. */
export function EachSection(control: NodeControl) {
  const { draft, node, path } = control;
  const { each } = node;
  const changeEach = (members: Partial<Each>): void =>
    setMembers(control, { each: withoutNothing({ items: '', ...each, ...members }) });
  return (
    <Disclosure title="For each entry" summary={eachSummary(node)} open={each?.items === ''}>
      <CheckField
        label="Once for each entry of a list"
        checked={each !== undefined}
        onChange={(is) => setMembers(control, { each: is ? { items: '' } : undefined })}
      />
      {each && (
        <>
          <ExpressionField
            label="List"
            hint="An expression. Each entry is item; its position is index, from 0."
            placeholder="nodes.plan.data.parts"
            value={each.items}
            path={`${path}.each.items`}
            draft={draft}
            onChange={(items) => changeEach({ items: items ?? '' })}
          />
          <OptionalNumber
            label="At once"
            placeholder="5"
            min={1}
            value={each.concurrency}
            onChange={(concurrency) => changeEach({ concurrency })}
          />
          <OptionalNumber
            label="Entries at most"
            placeholder="1000"
            hint="A longer list fails the node; 10,000 at most."
            min={1}
            max={10_000}
            value={each.maxItems}
            onChange={(maxItems) => changeEach({ maxItems })}
          />
          <ChoiceField
            label="When an entry fails"
            value={each.onFailure ?? 'fail'}
            options={POLICIES}
            onChange={(policy) =>
              changeEach(policy === 'collect' ? { onFailure: policy } : { onFailure: undefined, minSuccess: undefined })
            }
          />
          {each.onFailure === 'collect' && (
            <LeastSuccess value={each.minSuccess} onChange={(minSuccess) => changeEach({ minSuccess })} />
          )}
        </>
      )}
    </Disclosure>
  );
}

interface LeastSuccessProps {
  value: Each['minSuccess'];
  onChange: (value: Each['minSuccess']) => void;
}

function LeastSuccess({ value, onChange }: LeastSuccessProps) {
  const text = value === undefined ? '' : String(value);
  const fault = text === '' || /^\d+%?$/.test(text) ? undefined : 'A number, or a percentage such as 80%.';
  return (
    <Field label="Must succeed" hint="A number, or a percentage. Empty: none." error={fault}>
      {(id) => (
        <Input
          id={id}
          value={text}
          placeholder="80%"
          onChange={({ target: { value: typed } }) =>
            onChange(typed === '' ? undefined : /^\d+$/.test(typed) ? Number(typed) : typed)
          }
        />
      )}
    </Field>
  );
}

function withoutNothing(each: Each): Each {
  return Object.fromEntries(Object.entries(each).filter(([, value]) => value !== undefined)) as unknown as Each;
}
