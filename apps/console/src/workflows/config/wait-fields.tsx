import { useState } from 'react';
import { ChoiceField } from '../../components/choice-fields.js';
import { DurationField } from '../duration-field.js';
import { ExpressionField } from '../expression-field.js';
import type { ConfigMember } from './config-member.js';

const KINDS = { for: 'For a duration', until: 'Until a time' } as const;

/** Shows inputs for the wait of a node: a duration, or the time of its end. */
export function WaitFields({ draft, node, path, onConfig }: ConfigMember) {
  const { for: length, until } = node.config;
  const [kind, setKind] = useState<keyof typeof KINDS>(until === undefined ? 'for' : 'until');
  return (
    <>
      <ChoiceField
        label="Waits"
        value={kind}
        options={KINDS}
        onChange={(next) => {
          setKind(next);
          onConfig(kind, undefined);
          onConfig(next, next === 'for' ? '1m' : "now + duration('1h')");
        }}
      />
      {kind === 'for' ? (
        <DurationField
          label="Duration"
          hint="A year at most. In a workflow with expressions in texts also ${expression}."
          placeholder="1m"
          templates
          value={length}
          onChange={(value) => onConfig('for', value)}
        />
      ) : (
        <ExpressionField
          label="Time"
          hint="An expression that gives a time. A time in the past does not wait."
          placeholder="timestamp(inputs.start)"
          value={until}
          path={`${path}.config.until`}
          draft={draft}
          onChange={(value) => onConfig('until', value)}
        />
      )}
    </>
  );
}
