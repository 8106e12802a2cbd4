import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { HelpLink } from './help-link.js';
import { usePageTitle } from './page-title.js';

interface PageHeaderProps {
  title: ReactNode;
  /** Words that begin the title of the browser's tab, most specific first; `up.label` follows. Default: `title`. */
  tab?: readonly (string | undefined)[];
  /** Label and address of the parent page. */
  up?: { label: string; href: string };
  /** Content beside the title: a badge, a time. */
  aside?: ReactNode;
  actions?: ReactNode;
}

/** Shows the header of a page, and sets the title of the tab. */
export function PageHeader({ title, tab, up, aside, actions }: PageHeaderProps) {
  usePageTitle([...(tab ?? [typeof title === 'string' ? title : undefined]), up?.label]);
  return (
    <header className="flex min-h-14 shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-b bg-card px-4 py-2">
      <div className="flex min-w-0 items-center gap-2">
        {up && (
          <>
            <Link
              href={up.href}
              className="shrink-0 text-sm text-muted-foreground hover:text-foreground hover:underline"
            >
              {up.label}
            </Link>
            <span aria-hidden className="text-muted-foreground">
              /
            </span>
          </>
        )}
        <h1 className="truncate text-lg font-semibold">{title}</h1>
      </div>
      {aside}
      <div className="ml-auto flex flex-wrap items-center gap-2">
        {actions}
        <HelpLink />
      </div>
    </header>
  );
}

/** Shows a titled section of a page. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="space-y-2">
      <h2 className="font-semibold">{title}</h2>
      {children}
    </section>
  );
}
