import {
  Ban,
  Circle,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleX,
  Loader,
  type LucideIcon,
  SkipForward,
} from 'lucide-react';

interface Look {
  Icon: LucideIcon;
  label: string;
  className: string;
}

const GOOD = 'border-success/40 bg-success/10 text-success';
const BAD = 'border-destructive/40 bg-destructive/10 text-destructive';
const BUSY = 'border-primary/40 bg-primary/10 text-primary';
const WAITS = 'border-warning/40 bg-warning/10 text-warning';
const QUIET = 'border-border bg-muted text-muted-foreground';

const LOOKS: Readonly<Record<string, Look>> = {
  pending: { Icon: CircleDashed, label: 'Pending', className: QUIET },
  submitted: { Icon: CircleDashed, label: 'Submitted', className: QUIET },
  running: { Icon: Loader, label: 'Running', className: BUSY },
  working: { Icon: Loader, label: 'Working', className: BUSY },
  active: { Icon: Loader, label: 'Active', className: BUSY },
  'input-required': { Icon: CircleHelp, label: 'Waiting', className: WAITS },
  'auth-required': { Icon: CircleHelp, label: 'Waits for authorization', className: WAITS },
  paused: { Icon: CircleHelp, label: 'Paused', className: WAITS },
  completed: { Icon: CircleCheck, label: 'Completed', className: GOOD },
  complete: { Icon: CircleCheck, label: 'Complete', className: GOOD },
  converged: { Icon: CircleCheck, label: 'Converged', className: GOOD },
  delivered: { Icon: CircleCheck, label: 'Delivered', className: GOOD },
  approved: { Icon: CircleCheck, label: 'Approved', className: GOOD },
  failed: { Icon: CircleX, label: 'Failed', className: BAD },
  rejected: { Icon: CircleX, label: 'Rejected', className: BAD },
  canceled: { Icon: Ban, label: 'Canceled', className: QUIET },
  ok: { Icon: CircleCheck, label: 'OK', className: GOOD },
  changed: { Icon: CircleAlert, label: 'Changed', className: WAITS },
  unreachable: { Icon: CircleX, label: 'Unreachable', className: BAD },
  skipped: { Icon: SkipForward, label: 'Skipped', className: QUIET },
};

/**
 * Returns the icon, label and colors of the badge for a status. The status is a word of the API, such as `running`, or
 * an A2A TaskState.
 */
export function lookOf(status: string): Look {
  const word = status
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
  return LOOKS[word] ?? { Icon: Circle, label: status, className: QUIET };
}

export function StatusBadge({ status, detail }: { status: string; detail?: string }) {
  const { Icon, label, className } = lookOf(status);
  return (
    <span
      data-status={status}
      className={`inline-flex items-center gap-1 rounded-full border px-2 py-0.5 text-xs font-medium whitespace-nowrap ${className}`}
    >
      <Icon className="size-3.5" aria-hidden />
      {label}
      {detail !== undefined && <span className="font-normal">· {detail}</span>}
    </span>
  );
}
