import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { lookOf } from '../components/status-badge.js';
import { Elapsed } from '../components/time.js';

interface StepHeadProps {
  Icon: LucideIcon;
  color: string;
  title: ReactNode;
  /** Text that a completed step shows in place of its state. */
  note: string;
  state: string;
  from: string | undefined;
  to: string | undefined;
}

const TONES: Readonly<Record<string, string>> = {
  failed: 'text-destructive',
  'input-required': 'text-warning',
  running: 'text-primary',
};

/** Shows the first line of a step: its title, state and duration. */
export function StepHead({ Icon, color, title, note, state, from, to }: StepHeadProps) {
  const isOpen = to === undefined && state === 'running';
  return (
    <p className="flex flex-wrap items-baseline gap-x-2 text-sm">
      <Icon className={`size-4 shrink-0 self-center ${color}`} aria-hidden />
      <span className="min-w-0 grow font-medium break-all">{title}</span>
      <span className={`text-xs ${TONES[state] ?? 'text-muted-foreground'}`}>
        {state === 'completed' ? note : lookOf(state).label}
      </span>
      {from !== undefined && (to !== undefined || isOpen) && (
        <span className="text-xs text-muted-foreground">
          <Elapsed from={from} to={to} />
        </span>
      )}
    </p>
  );
}
