import { CheckField } from '../../components/choice-fields.js';
import { Disclosure } from '../../components/disclosure.js';
import type { GraphNode } from '../../graph/graph.js';
import { SchemaField } from '../../schema/schema-field.js';
import { type NodeControl, setMembers } from './node-control.js';
import { resultSummary } from './summaries.js';

/** Shows an input for the requirements that a node's result must meet. */
export function ResultSection(control: NodeControl) {
  const { output } = control.node;
  const changeOutput = (members: NonNullable<GraphNode['output']>): void => {
    const next = Object.entries({ ...output, ...members }).filter(
      ([, value]) => value !== undefined && value !== false,
    );
    setMembers(control, { output: next.length === 0 ? undefined : Object.fromEntries(next) });
  };
  return (
    <Disclosure title="Required output" summary={resultSummary(control.node)}>
      <CheckField
        label="Read JSON out of its text"
        hint="As models write it: alone, or between fences."
        checked={output?.parse === true}
        onChange={(parse) => changeOutput({ parse })}
      />
      <SchemaField
        label="Its data"
        hint="Output that does not fit is a failure, which can be retried."
        value={output?.schema}
        onChange={(schema) => changeOutput({ schema })}
      />
    </Disclosure>
  );
}
