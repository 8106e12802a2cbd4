import type { Command } from 'commander';
import type { Schemas } from '#libs/client';
import { CommandError } from '../exit-code.js';
import type { Session } from '../session.js';

/** Number of deliveries that `parley triggers deliveries` shows. */
const SHOWN_DELIVERIES = 50;

type TriggerAction = (session: Session, name: string, rest: readonly unknown[]) => Promise<void>;

/** Further actions of `parley triggers` on one trigger, by the word that names the action. */
export const TRIGGER_ACTIONS: Readonly<Record<string, TriggerAction>> = {
  deliveries: showDeliveries,
  replay: replayDelivery,
};

/** Adds the arguments of TRIGGER_ACTIONS. */
export function addTriggerArguments(command: Command): Command {
  return command.argument('[delivery]', 'number of a delivery, for replay');
}

/** Returns the cells of a trigger in the list: its name, workflow, source and address. */
export function triggerCells({ name, workflow, webhook, run, url }: Schemas['TriggerView']): string[] {
  const source = webhook?.scheme ?? `run of ${run?.workflow}: ${run?.statuses?.join(', ')}`;
  return [name, workflow, source, url ?? ''];
}

function placeOf(name: string, path: string): `/${string}` {
  return `/api/triggers/${encodeURIComponent(name)}/${path}`;
}

async function showDeliveries({ client, terminal, signal }: Session, name: string): Promise<void> {
  const query = { pageSize: SHOWN_DELIVERIES };
  const place = placeOf(name, 'deliveries');
  const { deliveries } = await client.call<Schemas['TriggerDeliveryListView']>(place, { query, signal });
  const toRows = (): string[][] =>
    deliveries.map(({ number, receivedAt, cause, state, runId, reason }) =>
      [number, receivedAt.slice(0, 19).replace('T', ' '), cause, state, runId ?? reason ?? ''].map((cell) =>
        terminal.stripControls(cell.replaceAll(/\s+/g, ' ')),
      ),
    );
  terminal.writeResult(deliveries, () =>
    deliveries.length === 0
      ? 'The trigger has no deliveries yet.'
      : terminal.formatTable(['NUMBER', 'RECEIVED (UTC)', 'CAUSE', 'STATE', 'RUN'], toRows()),
  );
}

async function replayDelivery(
  { client, terminal, signal }: Session,
  name: string,
  [delivery]: readonly unknown[],
): Promise<void> {
  if (typeof delivery !== 'string') throw new CommandError('Name the delivery: parley triggers replay <name> <number>');
  const place = placeOf(name, `deliveries/${encodeURIComponent(delivery)}/replay`);
  const sent = await client.call<Schemas['DeliveryAnswerView']>(place, { method: 'POST', signal });
  terminal.writeResult(sent, () => terminal.stripControls(sent.runId ?? sent.reason ?? ''));
}
