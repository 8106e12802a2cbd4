import { Link, useLocation } from 'wouter';
import { ROUTES } from '../routes.js';

/**
 * Shows the views: a column at the left of a wide window, a row at the bottom of a narrow one.
 * @param waiting number of questions that wait in the inbox, as text; empty for none
 */
export function Navigation({ waiting }: { waiting: string }) {
  const [location] = useLocation();
  return (
    <nav aria-label="Views" className="flex overflow-x-auto md:flex-col md:gap-0.5 md:p-2">
      {ROUTES.map(({ path, label, Icon }) => {
        const current = location === path || location.startsWith(`${path}/`);
        return (
          <Link
            key={path}
            href={path}
            aria-current={current ? 'page' : undefined}
            className={`relative flex min-w-fit flex-1 flex-col items-center gap-1 px-1.5 py-2 text-[10px] md:flex-none md:flex-row md:gap-2.5 md:rounded-md md:px-3 md:text-sm ${
              current
                ? 'font-medium text-primary md:bg-muted md:text-foreground'
                : 'text-muted-foreground hover:text-foreground md:hover:bg-muted/60'
            }`}
          >
            <Icon className="size-4 shrink-0" aria-hidden />
            <span>{label}</span>
            {path === '/inbox' && waiting !== '' && (
              <span
                data-waiting={waiting}
                className="rounded-full bg-warning/15 px-1.5 text-xs font-medium text-warning max-md:absolute max-md:top-0.5 max-md:right-0 md:ml-auto"
              >
                {waiting} <span className="sr-only">waiting</span>
              </span>
            )}
          </Link>
        );
      })}
    </nav>
  );
}
