import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useLocation, useSearch } from 'wouter';
import { buttonClass } from '../../components/button.js';
import { Field, Select } from '../../components/field.js';
import { PageHeader } from '../../components/page-header.js';
import { MoreButton, ResourceView } from '../../components/resource-view.js';
import { Time } from '../../components/time.js';
import { FailureNote } from './failure-note.js';
import { RestoreRevision } from './restore-revision.js';
import { historyHref, listRevisionPage, type RevisionEntry } from './revision-api.js';
import { RevisionDiffView } from './revision-diff.js';

interface HistoryPageProps {
  name: string;
  /** Revision that is shown; `undefined` for the newest. */
  revision: string | undefined;
}

/** Shows the revisions of a workflow: who saved each, and what each changed. An earlier revision can be restored. */
export function HistoryPage({ name, revision }: HistoryPageProps) {
  const list = useInfiniteQuery({
    queryKey: ['revisions', name],
    queryFn: ({ pageParam, signal }) => listRevisionPage(name, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
  });
  const resource = { data: list.data?.pages.flatMap((page) => page.revisions), failureReason: list.failureReason };
  return (
    <>
      <PageHeader
        title={`History of ${name}`}
        up={{ label: 'Workflows', href: '~/workflows' }}
        actions={
          <Link href={`~/workflows/edit/${encodeURIComponent(name)}`} className={buttonClass()}>
            Open workflow
          </Link>
        }
      />
      <FailureNote name={name} />
      <ResourceView resource={resource}>
        {(revisions) => (
          <div className="flex flex-col md:flex-row">
            <nav
              aria-label="Revisions"
              className="shrink-0 border-b p-4 max-md:max-h-64 max-md:overflow-y-auto md:w-72 md:border-r md:border-b-0"
            >
              <RevisionList name={name} revisions={revisions} shown={revision ?? revisions[0]?.revision} />
              <MoreButton list={list} />
            </nav>
            <ShownRevision name={name} revisions={revisions} revision={revision ?? revisions[0]?.revision ?? ''} />
          </div>
        )}
      </ResourceView>
    </>
  );
}

interface RevisionListProps {
  name: string;
  revisions: readonly RevisionEntry[];
  shown: string | undefined;
}

function RevisionList({ name, revisions, shown }: RevisionListProps) {
  return (
    <ol className="space-y-1">
      {revisions.map((entry, index) => {
        const { revision, savedAt, author, restoredFrom, createdAt } = entry;
        const later = revisions[index - 1];
        return (
          <li key={revision}>
            {later && later.createdAt !== createdAt && (
              <p className="my-2 border-t pt-2 text-xs text-muted-foreground">
                An earlier workflow of this name, which was deleted
              </p>
            )}
            <Link
              href={historyHref(name, revision)}
              aria-current={revision === shown ? 'page' : undefined}
              className={`block rounded-md px-2.5 py-2 text-sm hover:bg-muted ${revision === shown ? 'bg-muted' : ''}`}
            >
              <span className="font-medium">
                Revision {revision}
                {index === 0 && ' · newest'}
              </span>
              <span className="block text-xs text-foreground/80 wrap-anywhere">
                <Time at={savedAt} />
                {author !== undefined && ` by ${author}`}
                {restoredFrom !== undefined && `, restores ${restoredFrom}`}
              </span>
            </Link>
          </li>
        );
      })}
    </ol>
  );
}

interface ShownRevisionProps {
  name: string;
  revisions: readonly RevisionEntry[];
  revision: string;
}

function ShownRevision({ name, revisions, revision }: ShownRevisionProps) {
  const [, navigate] = useLocation();
  const chosen = new URLSearchParams(useSearch()).get('with');
  const index = revisions.findIndex((entry) => entry.revision === revision);
  const before = chosen ?? previousOf(revisions, index)?.revision;
  const newest = revisions[0]?.revision;
  const others = revisions.filter((entry) => entry.revision !== revision);
  return (
    <div className="min-w-0 grow space-y-4 p-4">
      <div className="flex flex-wrap items-end justify-between gap-3">
        {others.length > 0 && (
          <div className="w-64">
            <Field label={`Compare revision ${revision} with`}>
              {(id) => (
                <Select
                  id={id}
                  value={before ?? ''}
                  onChange={({ target }) => navigate(historyHref(name, revision, target.value))}
                >
                  {before === undefined && <option value="">Choose …</option>}
                  {others.map((entry) => (
                    <option key={entry.revision} value={entry.revision}>
                      Revision {entry.revision}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
          </div>
        )}
        {newest !== undefined && newest !== revision && (
          <RestoreRevision key={revision} name={name} revision={revision} newest={newest} />
        )}
      </div>
      {before === undefined ? (
        <p className="text-sm">This is the first revision that is stored.</p>
      ) : (
        <RevisionDiffView name={name} before={before} after={revision} />
      )}
    </div>
  );
}

/** Returns the revision before the one at `index`, unless it belongs to a deleted workflow of the same name. */
function previousOf(revisions: readonly RevisionEntry[], index: number): RevisionEntry | undefined {
  const [shown, previous] = index < 0 ? [] : [revisions[index], revisions[index + 1]];
  return shown?.createdAt === previous?.createdAt ? previous : undefined;
}
