import type { ReactNode } from 'react';

interface EmptyStateProps {
  title: string;
  /** Advice on what to do next. */
  children?: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-3 px-6 py-16 text-center">
      <h2 className="font-semibold">{title}</h2>
      <div className="text-sm text-muted-foreground">{children}</div>
      {action}
    </div>
  );
}
