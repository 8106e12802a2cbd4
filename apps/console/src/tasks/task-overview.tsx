import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { partsText } from '../api/parts.js';
import { isEnded, type A2aMessage, type A2aTask } from '../api/task.js';
import { Section } from '../components/page-header.js';
import { PartsView } from '../components/parts-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { Time } from '../components/time.js';
import { originOf } from './task-origin.js';

/** Shows a Task: its state, Artifacts and history. */
export function TaskOverview({ task }: { task: A2aTask }) {
  const { contextId, status, artifacts = [], history = [] } = task;
  return (
    <div
      className="mx-auto w-full max-w-4xl space-y-6 overflow-auto p-4 md:p-6"
      tabIndex={0}
      role="region"
      aria-label="Overview"
    >
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
        <Fact name="State">
          <StatusBadge status={status.state} /> {status.timestamp !== undefined && <Time at={status.timestamp} />}
        </Fact>
        <Fact name="Kind">{originOf(task).label}</Fact>
        <Fact name="Context">
          <Link
            href={`~/tasks?context=${encodeURIComponent(contextId)}`}
            className="font-mono text-xs break-all underline"
          >
            {contextId}
          </Link>
        </Fact>
      </dl>
      {status.message && !repeatsArtifact(task, status.message) && (
        <Section title="Last message">
          <PartsView parts={status.message.parts} />
        </Section>
      )}
      <Section title="Artifacts">
        {artifacts.length === 0 && <p className="text-sm text-muted-foreground">No Artifacts yet.</p>}
        {artifacts.map(({ artifactId, name, description, parts }) => (
          <article key={artifactId} data-artifact={artifactId} className="rounded-md border bg-card p-3">
            <h3 className="mb-2 text-sm font-medium">{name ?? artifactId}</h3>
            {description !== undefined && <p className="mb-2 text-xs text-muted-foreground">{description}</p>}
            <PartsView parts={parts} />
          </article>
        ))}
      </Section>
      <Section title="History">
        {history.length === 0 && <p className="text-sm text-muted-foreground">No messages.</p>}
        {history.map((message, index) => (
          <Said key={index} message={message} />
        ))}
      </Section>
    </div>
  );
}

/** True if the last message of an ended Task repeats an Artifact; the text is then shown once. */
function repeatsArtifact({ status, artifacts = [] }: A2aTask, { parts }: A2aMessage): boolean {
  const text = partsText(parts);
  return isEnded(status.state) && artifacts.some((artifact) => partsText(artifact.parts) === text);
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted-foreground">{name}</dt>
      <dd className="flex flex-wrap items-center gap-2">{children}</dd>
    </>
  );
}

function Said({ message: { role, parts } }: { message: A2aMessage }) {
  const caller = role === 'ROLE_USER';
  return (
    <article className={`rounded-md border p-3 ${caller ? 'border-primary/30 bg-primary/8' : 'bg-card'}`}>
      <h3 className="mb-1 text-xs text-muted-foreground">{caller ? 'Caller' : 'Agent'}</h3>
      <PartsView parts={parts} />
    </article>
  );
}
