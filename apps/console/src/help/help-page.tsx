import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { HelpText } from './help-text.js';
import { CONTENTS, loadHelpPage } from './help-pages.js';

/** Shows a page of the documentation, which is a part of the console, so it needs no other server. */
export function HelpPage({ name }: { name: string }) {
  const page = useQuery({ queryKey: ['help', name], queryFn: () => loadHelpPage(name), staleTime: Infinity });
  const text = page.data ?? '';
  const title = /^# (.*)$/m.exec(text)?.[1] ?? 'Help';
  useEffect(() => {
    if (text !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [text]);
  return (
    <div className="flex h-full flex-col">
      <PageHeader title={title} {...(name !== CONTENTS && { up: { label: 'Help', href: '~/help' } })} />
      <div tabIndex={0} role="region" aria-label="Help page" className="min-h-0 grow overflow-y-auto p-4 md:p-6">
        <ResourceView resource={page}>{(markdown) => <HelpText page={name} text={markdown} />}</ResourceView>
      </div>
    </div>
  );
}
