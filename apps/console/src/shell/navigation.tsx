import { Ellipsis } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { Link, useLocation } from 'wouter';
import { ROUTES, type ViewRoute } from '../routes.js';

/** Paths of the views that a narrow window has under "More". */
const UNDER_MORE = new Set(['/schedules', '/conversations', '/brainstorms', '/settings']);
/** Number of entries beside "More" in a narrow window. */
const MOST_SHOWN = 5;

const SHOWN = ROUTES.filter(({ path }) => !UNDER_MORE.has(path)).slice(0, MOST_SHOWN);
const FURTHER = ROUTES.filter((route) => !SHOWN.includes(route));

interface NavigationProps {
  /** Number of questions that wait in the inbox, as text; empty for none. */
  waiting: string;
}

/** Shows the views as a column at the left of a wide window. */
export function Navigation({ waiting }: NavigationProps) {
  const [location] = useLocation();
  return (
    <nav aria-label="Views" className="flex flex-col gap-0.5 p-2">
      {ROUTES.map((route) => (
        <Link
          key={route.path}
          href={route.path}
          aria-current={isCurrent(route, location) ? 'page' : undefined}
          className={`flex items-center gap-2.5 rounded-md px-3 py-2 text-sm ${
            isCurrent(route, location)
              ? 'bg-muted font-medium text-foreground'
              : 'text-muted-foreground hover:bg-muted/60 hover:text-foreground'
          }`}
        >
          <Entry route={route} waiting={waiting} badge="ml-auto" />
        </Link>
      ))}
    </nav>
  );
}

/** Shows five views and "More" as a row at the bottom of a narrow window. */
export function BottomNavigation({ waiting }: NavigationProps) {
  const [location] = useLocation();
  const isFurther = FURTHER.some((route) => isCurrent(route, location));
  return (
    <nav aria-label="Views" className="flex">
      {SHOWN.map((route) => (
        <Link
          key={route.path}
          href={route.path}
          aria-current={isCurrent(route, location) ? 'page' : undefined}
          className={bottomClass(isCurrent(route, location))}
        >
          <Entry route={route} waiting={waiting} badge="absolute top-0.5 right-0" />
        </Link>
      ))}
      <DropdownMenu.Root>
        <DropdownMenu.Trigger className={bottomClass(isFurther)}>
          <Ellipsis className="size-4 shrink-0" aria-hidden />
          <span>More</span>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content
            align="end"
            sideOffset={4}
            className="z-50 min-w-48 rounded-md border bg-card p-1 text-sm shadow-lg"
          >
            {FURTHER.map((route) => (
              <DropdownMenu.Item key={route.path} asChild>
                <Link
                  href={route.path}
                  aria-current={isCurrent(route, location) ? 'page' : undefined}
                  className="flex min-h-11 items-center gap-2.5 rounded px-3 outline-none data-[highlighted]:bg-muted"
                >
                  <Entry route={route} waiting={waiting} badge="ml-auto" />
                </Link>
              </DropdownMenu.Item>
            ))}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
    </nav>
  );
}

function Entry({ route: { path, label, Icon }, waiting, badge }: { route: ViewRoute; waiting: string; badge: string }) {
  return (
    <>
      <Icon className="size-4 shrink-0" aria-hidden />
      <span>{label}</span>
      {path === '/inbox' && waiting !== '' && (
        <span
          data-waiting={waiting}
          className={`rounded-full bg-warning/15 px-1.5 text-xs font-medium text-warning ${badge}`}
        >
          {waiting} <span className="sr-only">waiting</span>
        </span>
      )}
    </>
  );
}

function isCurrent({ path }: ViewRoute, location: string): boolean {
  return location === path || location.startsWith(`${path}/`);
}

function bottomClass(current: boolean): string {
  const tone = current ? 'font-medium text-primary' : 'text-muted-foreground hover:text-foreground';
  return `relative flex min-h-12 min-w-0 flex-auto flex-col items-center justify-center gap-1 text-[11px] ${tone}`;
}
