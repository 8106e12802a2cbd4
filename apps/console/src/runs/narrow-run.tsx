import { Tabs } from 'radix-ui';
import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';

type RunTab = 'graph' | 'timeline' | 'details' | 'log';

const LABELS: Readonly<Record<RunTab, string>> = {
  graph: 'Graph',
  timeline: 'Timeline',
  details: 'Details',
  log: 'Log',
};
const TABS = Object.keys(LABELS) as RunTab[];

interface NarrowRunProps {
  header: ReactNode;
  /** True if a node or an edge is selected: its details are then shown at first. */
  isSelected: boolean;
  /** Content of each tab. */
  content: (tab: RunTab) => ReactNode;
}

/**
 * Shows a run in a narrow window: its header, and one tab at a time. Details scroll with the page; every other tab fills
 * the rest of the window and scrolls by itself. Nothing scrolls inside another scroll area.
 */
export function NarrowRun({ header, isSelected, content }: NarrowRunProps) {
  const [search, setSearch] = useSearchParams();
  const wanted = search.get('view');
  const tab = TABS.find((name) => name === wanted) ?? (isSelected ? 'details' : 'graph');
  const chooseTab = (name: string): void =>
    setSearch(
      (last) => {
        const next = new URLSearchParams(last);
        next.set('view', name);
        return next;
      },
      { replace: true },
    );
  return (
    <Tabs.Root
      value={tab}
      onValueChange={chooseTab}
      className={`flex flex-col ${tab === 'details' ? 'min-h-full' : 'h-full'}`}
    >
      {header}
      <Tabs.List aria-label="Parts of the run" className="sticky top-0 z-30 flex shrink-0 border-b bg-card px-1">
        {TABS.map((name) => (
          <Tabs.Trigger
            key={name}
            value={name}
            className="min-h-11 flex-1 border-b-2 border-transparent text-sm text-muted-foreground data-[state=active]:border-primary data-[state=active]:font-medium data-[state=active]:text-foreground"
          >
            {LABELS[name]}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      <Tabs.Content
        value={tab}
        tabIndex={-1}
        className={tab === 'details' ? 'grow bg-card p-4 outline-none' : 'min-h-40 grow basis-0 outline-none'}
      >
        {content(tab)}
      </Tabs.Content>
    </Tabs.Root>
  );
}
