import { useRef, useState } from 'react';
import { useAction } from '../api/use-action.js';
import { Button } from '../components/button.js';
import { ChoiceField } from '../components/choice-fields.js';
import { Field, FieldError, Input } from '../components/field.js';
import { previewTimes, type Schedule } from './schedule-api.js';
import { NextTimes } from './next-times.js';
import { timingIn, type TimingKind, toLocalField } from './schedule-fields.js';

const KINDS = {
  cron: 'At the times of a cron expression',
  every: 'At an interval',
  at: 'Once',
} as const satisfies Record<TimingKind, string>;

interface TimingFieldsProps {
  /** Saved schedule whose times the fields show at first; absent for a new one. */
  schedule: Schedule | undefined;
  kind: TimingKind;
  onKind: (kind: TimingKind) => void;
  /** Returns the service's error for a member of the schedule. */
  errorAt: (path: string) => string | undefined;
}

/** Shows the fields that say when a schedule fires, with a preview of its next ten times. */
export function TimingFields({ schedule, kind, onKind, errorAt }: TimingFieldsProps) {
  return (
    <>
      <ChoiceField label="When" value={kind} options={KINDS} onChange={onKind} />
      {kind === 'cron' && <CronFields schedule={schedule} errorAt={errorAt} />}
      {kind === 'every' && (
        <Field label="Interval" hint="Such as 15m, 6h or 1d." error={errorAt('every')}>
          {(id) => <Input id={id} name="every" required defaultValue={schedule?.every} />}
        </Field>
      )}
      {kind === 'at' && (
        <Field label="Time" hint="In your time zone." error={errorAt('at')}>
          {(id) => <Input id={id} name="at" type="datetime-local" required {...toLocalField(schedule?.at)} />}
        </Field>
      )}
      <BoundField label="Not before" name="startAt" value={schedule?.startAt} error={errorAt('startAt')} />
      <BoundField label="Not after" name="endAt" value={schedule?.endAt} error={errorAt('endAt')} />
      <Field
        label="Spread"
        hint="Delays each run by up to this time, such as 30s, so that schedules of one minute do not start together."
        error={errorAt('jitter')}
      >
        {(id) => <Input id={id} name="jitter" defaultValue={schedule?.jitter} />}
      </Field>
      <TimesPreview kind={kind} />
    </>
  );
}

function CronFields({ schedule, errorAt }: Pick<TimingFieldsProps, 'schedule' | 'errorAt'>) {
  return (
    <>
      <Field
        label="Cron expression"
        hint="Minute, hour, day of the month, month, day of the week: 30 7 * * mon-fri."
        error={errorAt('cron')}
      >
        {(id) => (
          <Input id={id} name="cron" required autoComplete="off" spellCheck={false} defaultValue={schedule?.cron} />
        )}
      </Field>
      <Field label="Time zone" hint="IANA name, such as Europe/Berlin." error={errorAt('timeZone')}>
        {(id) => <Input id={id} name="timeZone" defaultValue={schedule?.timeZone ?? personsTimeZone()} />}
      </Field>
    </>
  );
}

interface BoundFieldProps {
  label: string;
  name: 'startAt' | 'endAt';
  value: string | undefined;
  error: string | undefined;
}

function BoundField({ label, name, value, error }: BoundFieldProps) {
  return (
    <Field label={`${label} (optional)`} error={error}>
      {(id) => <Input id={id} name={name} type="datetime-local" {...toLocalField(value)} />}
    </Field>
  );
}

/** Shows the next times of what the form says at the moment of the click. */
function TimesPreview({ kind }: { kind: TimingKind }) {
  const button = useRef<HTMLDivElement>(null);
  const action = useAction();
  const [times, setTimes] = useState<readonly string[]>();
  const show = async (): Promise<void> => {
    const form = button.current?.closest('form');
    if (!form) return;
    setTimes(undefined);
    setTimes(await previewTimes(timingIn(new FormData(form), kind)));
  };
  return (
    <div ref={button} className="space-y-2">
      <Button disabled={action.pending} onClick={() => void action.run(show)}>
        Show the next times
      </Button>
      <FieldError error={action.error} />
      {times && <NextTimes times={times} />}
    </div>
  );
}

function personsTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
