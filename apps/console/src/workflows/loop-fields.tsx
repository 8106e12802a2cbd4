import { ChoiceField, OptionalNumber } from '../components/choice-fields.js';
import { Field, TextArea } from '../components/field.js';
import type { LoopSettings } from '../graph/graph.js';
import type { Draft } from './draft.js';
import { DurationField } from './duration-field.js';
import { ExpressionField } from './expression-field.js';

/** Settings of a new loop. */
export const NEW_LOOP: LoopSettings = { max_iterations: 3 };

const MOST_ITERATIONS = 100;
const AT_MOST = { continue: 'Continue with the last result', fail: 'Fails' } as const;

interface LoopFieldsProps {
  loop: LoopSettings;
  /** Path of the loop's edge in the definition: `edges[3]`. */
  path: string;
  draft: Draft;
  onChange: (loop: LoopSettings) => void;
}

/** Shows the settings of a loop: the iteration limit, the exit condition, and what happens at the limit. */
export function LoopFields({ loop, path, draft, onChange }: LoopFieldsProps) {
  const changeLoop = (members: Partial<LoopSettings>): void => {
    const next = Object.entries({ ...loop, ...members }).filter(([, value]) => value !== undefined);
    onChange(Object.fromEntries(next) as unknown as LoopSettings);
  };
  return (
    <div className="space-y-3">
      <OptionalNumber
        label="Iterations at most"
        min={1}
        max={MOST_ITERATIONS}
        value={loop.max_iterations}
        onChange={(most) =>
          changeLoop({ max_iterations: Math.min(MOST_ITERATIONS, Math.max(1, Math.round(most ?? 1))) })
        }
      />
      <ExpressionField
        label="Until"
        hint="Evaluated after each iteration. Empty: it always repeats."
        placeholder="nodes.review.data.ok"
        value={loop.exit_when}
        path={`${path}.loop.exit_when`}
        draft={draft}
        onChange={(exit_when) => changeLoop({ exit_when })}
      />
      <DurationField
        label="Pause between iterations"
        value={loop.delay}
        placeholder="0s"
        onChange={(delay) => changeLoop({ delay })}
      />
      <ChoiceField
        label="At the last iteration"
        value={loop.on_max ?? 'continue'}
        options={AT_MOST}
        onChange={(on_max) => changeLoop({ on_max: on_max === 'fail' ? on_max : undefined })}
      />
      <Field label="Before the first iteration" hint="Result of the previous iteration in the first one.">
        {(id) => (
          <TextArea
            id={id}
            rows={2}
            value={loop.initial ?? ''}
            onChange={({ target }) => changeLoop({ initial: target.value === '' ? undefined : target.value })}
          />
        )}
      </Field>
    </div>
  );
}
