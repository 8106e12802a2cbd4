import { CircleQuestionMark } from 'lucide-react';
import { Link } from 'wouter';
import { usePathname } from 'wouter/use-browser-location';
import { helpPageFor } from '../help/help-links.js';

/** Shows a link to the help page of the current view; nothing on a help page. */
export function HelpLink() {
  const path = usePathname();
  if (path === '/help' || path.startsWith('/help/')) return null;
  return (
    <Link
      href={`~/help/${helpPageFor(path)}`}
      aria-label="Help for this page"
      title="Help for this page"
      className="rounded-md p-1.5 text-muted-foreground hover:bg-muted hover:text-foreground"
    >
      <CircleQuestionMark className="size-4" aria-hidden />
    </Link>
  );
}
