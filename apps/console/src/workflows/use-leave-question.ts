import { useEffect } from 'react';
import { usePathname } from 'wouter/use-browser-location';
import { guardHistory } from '../shell/history-guard.js';

/** Asks before the page is left while `asks` is true: by a link, through the history, or by unloading. */
export function useLeaveQuestion(asks: boolean): void {
  const path = usePathname();
  useEffect(() => {
    if (!asks) return;
    const warnBeforeUnload = (event: BeforeUnloadEvent): void => event.preventDefault();
    const endGuard = guardHistory(path, confirmLeaving);
    addEventListener('beforeunload', warnBeforeUnload);
    document.addEventListener('click', askAtLink, true);
    return () => {
      removeEventListener('beforeunload', warnBeforeUnload);
      endGuard();
      document.removeEventListener('click', askAtLink, true);
    };
  }, [asks, path]);
}

/** Asks before a link within the console is followed, since such a link unloads no page. */
function askAtLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0;
  if (!(link instanceof HTMLAnchorElement) || link.target === '_blank' || elsewhere) return;
  const stays = link.hasAttribute('download') || link.getAttribute('href')?.startsWith('#') === true;
  if (stays || confirmLeaving()) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Asks whether to leave the editor without saving. */
export function confirmLeaving(): boolean {
  return confirm('Leave the editor? What was changed is not saved.');
}
