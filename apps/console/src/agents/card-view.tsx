import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react';
import { DataTable } from '../components/data-table.js';
import { JsonView } from '../components/json-view.js';
import { Markdown } from '../components/markdown.js';
import { Section } from '../components/page-header.js';
import type { A2aCard } from './agent-card.js';
import type { AgentCardReport } from './card-report.js';
import type { CardMessage } from './card-messages.js';

/** Shows an agent's card, its problems first. */
export function CardView({ report: { card, messages, signature } }: { report: AgentCardReport }) {
  return (
    <div tabIndex={0} role="region" aria-label="Agent card" className="min-h-0 grow overflow-auto p-4 md:p-6">
      <div className="mx-auto max-w-4xl space-y-6 wrap-anywhere">
        <CheckResult card={card} messages={messages} signature={signature} />
        {card && <Members card={card} />}
      </div>
    </div>
  );
}

function CheckResult({
  card,
  messages,
  signature,
}: Pick<AgentCardReport, 'messages'> & { card?: A2aCard | undefined; signature?: string | undefined }) {
  const errors = messages.filter(({ level }) => level === 'error');
  return (
    <div role="status" className="space-y-2 rounded-md border bg-card p-3 text-sm">
      {card && errors.length === 0 && (
        <p className="flex items-center gap-1.5 text-success">
          <CircleCheck className="size-4 shrink-0" aria-hidden /> The card has all members that A2A 1.0 requires.
        </p>
      )}
      {signature !== undefined && <p>{signature}</p>}
      {messages.length > 0 && (
        <ul className="space-y-1">
          {messages.map((message) => (
            <Said key={message.path + message.message} message={message} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Said({ message: { level, path, message } }: { message: CardMessage }) {
  const Icon = level === 'error' ? CircleAlert : TriangleAlert;
  return (
    <li data-level={level} className="flex gap-1.5">
      <Icon
        className={`mt-0.5 size-4 shrink-0 ${level === 'error' ? 'text-destructive' : 'text-warning'}`}
        aria-hidden
      />
      <span className="min-w-0 break-words">
        {path !== '' && <code>{path}</code>} {message}
      </span>
    </li>
  );
}

function Members({ card }: { card: A2aCard }) {
  const { description, provider, documentationUrl, supportedInterfaces = [], skills = [], securitySchemes } = card;
  return (
    <>
      {description !== undefined && <Markdown text={description} />}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
        <Fact name="Version" value={card.version} />
        <Fact name="Provider" value={provider?.organization} />
        <Fact name="Documentation" value={documentationUrl} />
        <Fact name="Can" value={capabilitiesOf(card).join(', ')} />
        <Fact name="Reads" value={card.defaultInputModes?.join(', ')} />
        <Fact name="Writes" value={card.defaultOutputModes?.join(', ')} />
        <Fact name="Extensions" value={card.capabilities?.extensions?.map(({ uri }) => uri).join(', ')} />
        <Fact name="Asks for" value={securitySchemes && Object.keys(securitySchemes).join(', ')} />
      </dl>
      <Section title="Skills">
        <ul className="space-y-3">
          {skills.map((skill, index) => (
            <li key={index} className="rounded-md border bg-card p-3 text-sm">
              <p className="font-medium">
                {skill.name} <code className="text-xs font-normal text-muted-foreground">{skill.id}</code>
              </p>
              <p>{skill.description}</p>
              {skill.tags && <p className="text-xs text-muted-foreground">{skill.tags.join(', ')}</p>}
              {skill.examples?.map((example) => (
                <p key={example} className="text-xs text-muted-foreground">
                  “{example}”
                </p>
              ))}
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Interfaces">
        <DataTable
          label="Interfaces"
          rows={supportedInterfaces.map((it, index) => ({ ...it, index }))}
          keyOf={({ index }) => String(index)}
          columns={[
            { title: 'Binding', cell: ({ protocolBinding }) => protocolBinding },
            { title: 'Version', cell: ({ protocolVersion }) => protocolVersion },
            { title: 'URL', cell: ({ url }) => url, className: 'break-all' },
          ]}
        />
      </Section>
      <Section title="JSON">
        <JsonView value={card} label="The card as JSON" />
      </Section>
    </>
  );
}

function Fact({ name, value }: { name: string; value: string | undefined }) {
  if (value === undefined || value === '') return null;
  return (
    <>
      <dt className="text-muted-foreground">{name}</dt>
      <dd className="min-w-0 break-words">{value}</dd>
    </>
  );
}

const CAPABILITIES: Readonly<Record<string, string>> = {
  streaming: 'stream',
  pushNotifications: 'send push notifications',
  extendedAgentCard: 'offer authenticated callers an extended card',
};

function capabilitiesOf({ capabilities = {} }: A2aCard): string[] {
  return Object.entries(CAPABILITIES).flatMap(([name, words]) => (capabilities[name] === true ? [words] : []));
}
