import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useLive } from '../api/use-live.js';
import { Button } from '../components/button.js';
import { ConnectionNote } from '../components/connection-note.js';
import { EmptyState } from '../components/empty-state.js';
import { Input } from '../components/field.js';
import { PageHeader } from '../components/page-header.js';
import { MoreButton, ResourceView } from '../components/resource-view.js';
import { Coming, Time } from '../components/time.js';
import { AnswerForm } from '../runs/answer-form.js';
import { changesQuestions, type InboxItem, listQuestions } from './inbox-api.js';

const SPACING_MS = 500;

/** Shows the pending questions of runs, oldest first, with forms to answer them. The list updates live. */
export function Inbox() {
  const [search, setSearch] = useSearchParams();
  const assignee = search.get('assignee') ?? '';
  const queryKey = ['inbox', assignee];
  const resource = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => listQuestions(assignee, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
  });
  const connection = useLive(queryKey, { streams: ['run'] }, { concerns: changesQuestions, spacing: SPACING_MS });
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title="Inbox"
        aside={<ConnectionNote connection={connection} />}
        actions={
          <Input
            type="search"
            aria-label="Assignee"
            placeholder="Assignee …"
            value={assignee}
            onChange={({ target }) =>
              setSearch(target.value === '' ? {} : { assignee: target.value }, { replace: true })
            }
            className="w-44!"
          />
        }
      />
      <ResourceView resource={resource}>
        {({ pages }) => (
          <div className="min-h-0 grow overflow-y-auto">
            <Questions
              items={pages.flatMap(({ items }) => items)}
              assignee={assignee}
              onAnswered={() => void resource.refetch()}
            />
            <MoreButton list={resource} />
          </div>
        )}
      </ResourceView>
    </div>
  );
}

interface QuestionsProps {
  items: readonly InboxItem[];
  assignee: string;
  onAnswered: () => void;
}

function Questions({ items, assignee, onAnswered }: QuestionsProps) {
  const [open, setOpen] = useState<string>();
  if (items.length === 0) {
    return assignee === '' ? (
      <EmptyState title="No open questions">
        Questions that nodes of runs ask a person appear here until they are answered.
      </EmptyState>
    ) : (
      <EmptyState title={`No open questions for ${assignee}`}>Clear the filter to see questions for others.</EmptyState>
    );
  }
  return (
    <ul aria-label="Questions" className="mx-auto max-w-3xl divide-y">
      {items.map((item) => {
        const key = `${item.runId} ${item.instance}`;
        return (
          <li key={key} data-question={item.instance} className="space-y-3 p-4">
            <Question
              item={item}
              open={open === key}
              onOpen={() => setOpen(open === key ? undefined : key)}
              onAnswered={onAnswered}
            />
          </li>
        );
      })}
    </ul>
  );
}

interface QuestionProps {
  item: InboxItem;
  open: boolean;
  onOpen: () => void;
  onAnswered: () => void;
}

/** Shows a question, its run, its deadline, and the form that answers it. */
function Question({ item, open, onOpen, onAnswered }: QuestionProps) {
  const { runId, workflow, instance, text, form, assignee, deadline, since } = item;
  return (
    <>
      <div className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 grow">
          <h2 className="text-sm font-medium break-words whitespace-pre-wrap">{text === '' ? instance : text}</h2>
          <p className="flex flex-wrap gap-x-3 text-xs text-muted-foreground">
            <Link
              href={`~/runs/${encodeURIComponent(runId)}/nodes/${encodeURIComponent(instance)}`}
              className="max-w-full truncate underline"
              title={`${workflow}, ${instance}`}
            >
              {workflow}, {instance}
            </Link>
            {assignee !== undefined && <span>for {assignee}</span>}
            <span>
              asked <Time at={since} />
            </span>
            {deadline !== undefined && (
              <span>
                due <Coming at={deadline} />
              </span>
            )}
          </p>
        </div>
        <Button aria-expanded={open} onClick={onOpen}>
          {open ? 'Close' : 'Answer'}
        </Button>
      </div>
      {open && <AnswerForm question={{ runId, instance, text, form }} isAsked onAnswered={onAnswered} />}
    </>
  );
}
