import { OptionalNumber } from '../../components/choice-fields.js';
import type { Retry } from '../../graph/graph.js';
import { DurationField } from '../duration-field.js';
import { ExpressionField } from '../expression-field.js';
import { type NodeControl, setMembers } from './node-control.js';

/** Kinds of failure that can be retried, with their labels. `usual` kinds are retried by default. */
const KINDS: Readonly<Record<string, { label: string; usual: boolean }>> = {
  connect: { label: 'cannot be reached', usual: true },
  timeout: { label: 'takes too long', usual: true },
  'server-error': { label: 'answers with an error', usual: true },
  'rate-limited': { label: 'asks to wait', usual: true },
  overloaded: { label: 'finds no room here', usual: true },
  failed: { label: 'its work failed', usual: false },
  rejected: { label: 'refuses the work', usual: false },
  'invalid-output': { label: 'its result does not fit', usual: false },
  cut: { label: 'its answer was cut', usual: false },
  expression: { label: 'an expression failed', usual: false },
  'budget-exceeded': { label: 'its budget is used up', usual: false },
};

const USUAL = Object.keys(KINDS).filter((kind) => KINDS[kind]?.usual);

interface RetryFieldsProps extends NodeControl {
  retry: Retry;
}

/** Shows inputs for the retries of a node: the failures that are retried, how often and when. */
export function RetryFields({ retry, ...control }: RetryFieldsProps) {
  const changeRetry = (members: Partial<Retry>): void => {
    const next = Object.entries({ ...retry, ...members }).filter(([, value]) => value !== undefined);
    setMembers(control, { retry: Object.fromEntries(next) as unknown as Retry });
  };
  return (
    <div className="space-y-3 border-l-2 pl-3">
      <OptionalNumber
        label="Attempts in all"
        min={1}
        value={retry.attempts}
        onChange={(attempts) => changeRetry({ attempts: Math.max(1, Math.round(attempts ?? 1)) })}
      />
      <Kinds on={retry.on} onChange={(on) => changeRetry({ on })} />
      <ExpressionField
        label="And only if"
        placeholder="error.message.contains('busy')"
        value={retry.when}
        path={`${control.path}.retry.when`}
        draft={control.draft}
        onChange={(when) => changeRetry({ when })}
      />
      <div className="grid grid-cols-2 gap-3">
        <DurationField
          label="First pause"
          placeholder="1s"
          value={retry.delay}
          onChange={(delay) => changeRetry({ delay })}
        />
        <OptionalNumber
          label="Factor"
          placeholder="2"
          min={1}
          step="any"
          value={retry.factor}
          onChange={(factor) => changeRetry({ factor })}
        />
        <DurationField
          label="Longest pause"
          placeholder="1m"
          value={retry.maxDelay}
          onChange={(maxDelay) => changeRetry({ maxDelay })}
        />
        <OptionalNumber
          label="Jitter"
          placeholder="0.5"
          min={0}
          max={1}
          step="any"
          value={retry.jitter}
          onChange={(jitter) => changeRetry({ jitter })}
        />
      </div>
    </div>
  );
}

interface KindsProps {
  on: readonly string[] | undefined;
  onChange: (on: string[] | undefined) => void;
}

function Kinds({ on = USUAL, onChange }: KindsProps) {
  const others = on.filter((kind) => !(kind in KINDS));
  const toggleKind = (kind: string, is: boolean): void => {
    const next = [...Object.keys(KINDS), ...others].filter((it) => (it === kind ? is : on.includes(it)));
    onChange(next.length === USUAL.length && USUAL.every((it) => next.includes(it)) ? undefined : next);
  };
  return (
    <fieldset className="space-y-1">
      <legend className="text-sm font-medium">After which failures</legend>
      {[
        ...Object.entries(KINDS).map(([kind, { label }]) => [kind, label] as const),
        ...others.map((it) => [it, it] as const),
      ].map(([kind, label]) => (
        <label key={kind} className="flex items-center gap-2 text-sm">
          <input
            type="checkbox"
            checked={on.includes(kind)}
            onChange={({ target }) => toggleKind(kind, target.checked)}
          />
          <span>
            {label} <code className="text-xs text-muted-foreground">{kind}</code>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
