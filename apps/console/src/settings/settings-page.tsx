import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { PageHeader } from '../components/page-header.js';

const PAGES = [
  ['/models', 'Models'],
  ['/agents', 'Agents'],
  ['/mcp-servers', 'MCP servers'],
  ['/credentials', 'Credentials'],
  ['/keys', 'Keys'],
  ['/cards', 'Cards'],
  ['/files', 'Files'],
] as const;

interface SettingsPageProps {
  actions?: ReactNode;
  children: ReactNode;
}

/** Shows the header and the navigation above every list of the settings. */
export function SettingsPage({ actions, children }: SettingsPageProps) {
  const [location] = useLocation();
  const label = PAGES.find(([path]) => location.startsWith(path))?.[1];
  return (
    <div className="flex h-full flex-col">
      <PageHeader title="Settings" tab={[label, 'Settings']} actions={actions} />
      <nav aria-label="Settings" className="flex shrink-0 gap-1 overflow-x-auto border-b bg-card px-3">
        {PAGES.map(([path, label]) => {
          const current = location.startsWith(path);
          return (
            <Link
              key={path}
              href={path}
              aria-current={current ? 'page' : undefined}
              className={`shrink-0 border-b-2 px-2.5 py-2 text-sm ${
                current
                  ? 'border-primary font-medium text-foreground'
                  : 'border-transparent text-muted-foreground hover:text-foreground'
              }`}
            >
              {label}
            </Link>
          );
        })}
      </nav>
      <div className="flex min-h-0 grow flex-col overflow-y-auto">{children}</div>
    </div>
  );
}
