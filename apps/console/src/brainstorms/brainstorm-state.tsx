import type { ReactNode } from 'react';
import { Markdown } from '../components/markdown.js';
import { type Brainstorm, type BrainstormRisk, roleLabel, type StateSource } from './brainstorm.js';

const SEVERITIES: Readonly<Record<BrainstormRisk['severity'], string>> = {
  low: 'border-border text-muted-foreground',
  medium: 'border-warning/40 text-warning',
  high: 'border-destructive/40 text-destructive',
  critical: 'border-destructive bg-destructive/10 text-destructive',
};

/** Shows the merged state of the last complete pass, and for each part the agent that set it. */
export function BrainstormState({ brainstorm: { agents, state, provenance } }: { brainstorm: Brainstorm }) {
  const findAgentName = (agent: string): string => agents.find((it) => it.agent === agent)?.name ?? agent;
  const renderSource = (path: string): ReactNode => <By source={provenance[path]} nameOf={findAgentName} />;
  return (
    <div className="space-y-6">
      <Section title="Idea" by={renderSource('idea')}>
        <Markdown text={state.idea} />
      </Section>
      <Section title="Architecture" by={renderSource('architecture')} empty={state.architecture === ''}>
        <Markdown text={state.architecture} />
      </Section>
      <Section title="Plan" empty={state.execution_plan.length === 0}>
        <ol className="list-decimal space-y-3 pl-6">
          {state.execution_plan.map(({ title, description }, index) => (
            <li key={index}>
              <span className="font-medium">{title}</span> {renderSource(`execution_plan[${index}]`)}
              <Markdown text={description} />
            </li>
          ))}
        </ol>
      </Section>
      <Section title="Risks" empty={state.risks.length === 0}>
        <ul className="space-y-2">
          {state.risks.map(({ text, severity, resolved }, index) => (
            <li key={index} className="flex flex-wrap items-baseline gap-x-2">
              <span className={`rounded-full border px-2 text-xs ${SEVERITIES[severity]}`}>{severity}</span>
              {resolved && <span className="text-xs text-success">resolved</span>}
              <span className={`text-sm break-words ${resolved ? 'text-muted-foreground' : ''}`}>{text}</span>
              {renderSource(`risks[${index}]`)}
            </li>
          ))}
        </ul>
      </Section>
      <TextList title="Assumptions" texts={state.assumptions} by={(index) => renderSource(`assumptions[${index}]`)} />
      <TextList
        title="Open questions"
        texts={state.open_questions}
        by={(index) => renderSource(`open_questions[${index}]`)}
      />
    </div>
  );
}

interface SectionProps {
  title: string;
  by?: ReactNode;
  empty?: boolean;
  children: ReactNode;
}

function Section({ title, by, empty = false, children }: SectionProps) {
  return (
    <section aria-label={title}>
      <h2 className="mb-2 flex flex-wrap items-baseline gap-x-2 font-semibold">
        {title} {by}
      </h2>
      {empty ? <p className="text-sm text-muted-foreground">Nothing yet.</p> : children}
    </section>
  );
}

function TextList({ title, texts, by }: { title: string; texts: string[]; by: (index: number) => ReactNode }) {
  return (
    <Section title={title} empty={texts.length === 0}>
      <ul className="list-disc space-y-1 pl-5 text-sm">
        {texts.map((text, index) => (
          <li key={index} className="break-words">
            {text} {by(index)}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function By({ source, nameOf }: { source: StateSource | undefined; nameOf: (agent: string) => string }) {
  if (!source) return null;
  return (
    <span data-provenance title={source.agent} className="text-xs font-normal text-muted-foreground">
      {nameOf(source.agent)}, {roleLabel(source.role)}, iteration {source.iteration}
    </span>
  );
}
