import type { AgentCard } from './agent-card.js';

/** A problem of a card, or a remark for its callers. */
export interface CardMessage {
  level: 'error' | 'warning';
  /** Path of the member in the card; empty for the whole card. */
  path: string;
  message: string;
}

/** Returns what A2A 1.0 (section 4.4) requires of a card and this card lacks. */
export function cardMessages(card: AgentCard): CardMessage[] {
  const { supportedInterfaces = [], skills = [], capabilities } = card;
  return [
    ...(['name', 'description', 'version'] as const).filter((it) => !card[it]).map((it) => missing(it)),
    ...(['defaultInputModes', 'defaultOutputModes'] as const)
      .filter((it) => !card[it]?.length)
      .map((it) => wrong(it, 'is empty')),
    ...(capabilities === undefined ? [missing('capabilities')] : []),
    ...(supportedInterfaces.length === 0 ? [wrong('supportedInterfaces', 'is empty: nobody can call it')] : []),
    ...supportedInterfaces.flatMap(({ url, protocolBinding, protocolVersion }, index) => [
      ...(url ? [] : [missing(`supportedInterfaces[${index}].url`)]),
      ...(protocolBinding ? [] : [missing(`supportedInterfaces[${index}].protocolBinding`)]),
      ...(protocolVersion ? [] : [missing(`supportedInterfaces[${index}].protocolVersion`)]),
    ]),
    ...(skills.length === 0 ? [wrong('skills', 'is empty: nobody knows what it can do')] : []),
    ...skills.flatMap(({ id, name, description, tags }, index) => [
      ...(id ? [] : [missing(`skills[${index}].id`)]),
      ...(name ? [] : [missing(`skills[${index}].name`)]),
      ...(description ? [] : [missing(`skills[${index}].description`)]),
      ...(tags?.length ? [] : [{ ...wrong(`skills[${index}].tags`, 'is empty'), level: 'warning' as const }]),
    ]),
  ];
}

function missing(path: string): CardMessage {
  return wrong(path, 'is missing');
}

function wrong(path: string, message: string): CardMessage {
  return { level: 'error', path, message };
}
