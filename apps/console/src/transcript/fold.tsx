import { ChevronRight } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { textStart } from '../components/text-start.js';

const LONGEST = 120;

interface FoldProps {
  title: string;
  /** Text whose beginning is shown while the content is closed. */
  summary: string;
  children: ReactNode;
}

/** Shows content that opens and closes; closed content is not rendered. */
export function Fold({ title, summary, children }: FoldProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="flex w-full min-w-0 items-center gap-1 text-left text-xs hover:bg-muted/60"
      >
        <ChevronRight className={`size-3.5 shrink-0 ${open ? 'rotate-90' : ''}`} aria-hidden />
        <span className="shrink-0 font-medium">{title}</span>
        {!open && (
          <span className="min-w-0 truncate text-muted-foreground">
            {textStart(summary, LONGEST).replace(/\s+/g, ' ')}
          </span>
        )}
      </button>
      <div id={id} className={open ? 'space-y-1 pt-1' : 'hidden'}>
        {open && children}
      </div>
    </div>
  );
}
