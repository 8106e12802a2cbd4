import { ChevronRight } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';

interface DisclosureProps {
  title: string;
  /** Summary of the content, shown while the section is closed. */
  summary?: string | undefined;
  /** True if the section is open at first. */
  open?: boolean;
  children: ReactNode;
}

/** Shows a section that opens and closes; closed content is not rendered. */
export function Disclosure({ title, summary, open = false, children }: DisclosureProps) {
  const [shown, setShown] = useState(open);
  const id = useId();
  return (
    <section className="rounded-md border">
      <h3>
        <button
          type="button"
          aria-expanded={shown}
          aria-controls={id}
          onClick={() => setShown(!shown)}
          className="flex w-full items-center gap-1.5 px-2.5 py-2 text-left text-sm hover:bg-muted/60"
        >
          <ChevronRight className={`size-4 shrink-0 ${shown ? 'rotate-90' : ''}`} aria-hidden />
          <span className="shrink-0 font-medium">{title}</span>
          {!shown && summary !== undefined && (
            <span className="ml-auto truncate text-xs text-muted-foreground">{summary}</span>
          )}
        </button>
      </h3>
      <div id={id} className={shown ? 'space-y-3 border-t p-2.5' : 'hidden'}>
        {shown && children}
      </div>
    </section>
  );
}
