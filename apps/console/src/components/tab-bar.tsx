import { Tabs } from 'radix-ui';
import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';

export interface Tab {
  /** Name of the tab, which is the value of `?tab=`. */
  name: string;
  label: string;
  content: () => ReactNode;
}

/** Shows tabs; `?tab=` names the current one, by default the first. */
export function TabBar({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [search, setSearch] = useSearchParams();
  const wanted = search.get('tab');
  const current = tabs.find(({ name }) => name === wanted) ?? tabs[0];
  const chooseTab = (name: string): void =>
    setSearch(
      (last) => {
        const next = new URLSearchParams(last);
        next.set('tab', name);
        return next;
      },
      { replace: true },
    );
  return (
    <Tabs.Root value={current?.name ?? ''} onValueChange={chooseTab} className="flex min-h-0 grow flex-col">
      <Tabs.List aria-label={label} className="flex shrink-0 gap-1 overflow-x-auto border-b bg-card px-3">
        {tabs.map((tab) => (
          <Tabs.Trigger
            key={tab.name}
            value={tab.name}
            className="shrink-0 border-b-2 border-transparent px-2.5 py-2 text-sm text-muted-foreground hover:text-foreground data-[state=active]:border-primary data-[state=active]:font-medium data-[state=active]:text-foreground"
          >
            {tab.label}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {current && (
        <Tabs.Content value={current.name} tabIndex={-1} className="flex min-h-0 grow flex-col outline-none">
          {current.content()}
        </Tabs.Content>
      )}
    </Tabs.Root>
  );
}
