import type { A2aCard } from './agent-card.js';

/** A problem of a card, or a remark for callers of the agent. */
export interface CardMessage {
  level: 'error' | 'warning';
  /** Path of the member in the card; empty for the whole card. */
  path: string;
  message: string;
}

/** Returns a message for each requirement of A2A 1.0 (section 4.4) that a card does not meet. */
export function cardMessages(card: A2aCard): CardMessage[] {
  const { supportedInterfaces = [], skills = [], capabilities } = card;
  return [
    ...(['name', 'description', 'version'] as const).filter((it) => !card[it]).map((it) => reportMissing(it)),
    ...(['defaultInputModes', 'defaultOutputModes'] as const)
      .filter((it) => !card[it]?.length)
      .map((it) => reportError(it, 'is empty')),
    ...(capabilities === undefined ? [reportMissing('capabilities')] : []),
    ...(supportedInterfaces.length === 0
      ? [reportError('supportedInterfaces', 'is empty: no client can call the agent')]
      : []),
    ...supportedInterfaces.flatMap(({ url, protocolBinding, protocolVersion }, index) => [
      ...(url ? [] : [reportMissing(`supportedInterfaces[${index}].url`)]),
      ...(protocolBinding ? [] : [reportMissing(`supportedInterfaces[${index}].protocolBinding`)]),
      ...(protocolVersion ? [] : [reportMissing(`supportedInterfaces[${index}].protocolVersion`)]),
    ]),
    ...(skills.length === 0 ? [reportError('skills', 'is empty: clients cannot see what the agent does')] : []),
    ...skills.flatMap(({ id, name, description, tags }, index) => [
      ...(id ? [] : [reportMissing(`skills[${index}].id`)]),
      ...(name ? [] : [reportMissing(`skills[${index}].name`)]),
      ...(description ? [] : [reportMissing(`skills[${index}].description`)]),
      ...(tags?.length ? [] : [{ ...reportError(`skills[${index}].tags`, 'is empty'), level: 'warning' as const }]),
    ]),
  ];
}

function reportMissing(path: string): CardMessage {
  return reportError(path, 'is missing');
}

function reportError(path: string, message: string): CardMessage {
  return { level: 'error', path, message };
}
