import { BookOpen } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useTitleCount } from '../components/page-title.js';
import { useWaitingCount, WaitingCountUpdates } from '../inbox/waiting-count.js';
import { AccountButtons } from './account-buttons.js';
import { BottomNavigation, Navigation } from './navigation.js';
import { ThemeSwitch } from './theme-switch.js';
import { Tour } from './tour.js';

/** Shows the frame (header and navigation) around every view. */
export function Shell({ children }: { children: ReactNode }) {
  const counted = useWaitingCount();
  const waiting = counted ?? '';
  useTitleCount(waiting);
  return (
    <div className="flex h-full flex-col md:flex-row">
      {counted !== undefined && <WaitingCountUpdates />}
      <a href="#view" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-card focus:p-2">
        Skip to the view
      </a>
      <header className="flex shrink-0 items-center justify-between border-b bg-card px-3 py-1.5 md:h-full md:w-48 md:flex-col md:items-stretch md:justify-start md:border-r md:border-b-0 md:p-0">
        <Link href="/workflows" className="flex items-center gap-2 font-semibold md:px-4 md:py-4">
          <img src="/favicon.svg" alt="" width={22} height={22} />
          Parley
        </Link>
        <div className="hidden grow md:block">
          <Navigation waiting={waiting} />
        </div>
        <div className="flex items-center gap-1 md:border-t md:p-2">
          <ThemeSwitch />
          <AccountButtons />
          <a
            href="/docs"
            className="flex items-center gap-2 rounded-md p-2 text-sm text-muted-foreground hover:bg-muted hover:text-foreground"
          >
            <BookOpen className="size-4" aria-hidden /> API
          </a>
        </div>
      </header>
      <main id="view" tabIndex={-1} className="min-h-0 min-w-0 grow overflow-auto -outline-offset-2">
        {children}
      </main>
      <Tour />
      <div className="shrink-0 border-t bg-card md:hidden">
        <BottomNavigation waiting={waiting} />
      </div>
    </div>
  );
}
