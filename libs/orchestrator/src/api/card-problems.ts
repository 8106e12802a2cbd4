import type { AgentCard } from '#libs/protocol';

/** One thing that is wrong with an agent's card. */
export interface CardProblem {
  /** Where, for example `skills[0].id`. */
  path: string;
  detail: string;
}

/** What A2A 1.0 (section 4.4) asks of a card and this one lacks. */
export function cardProblems(card: Partial<AgentCard>): CardProblem[] {
  const texts = (['name', 'description', 'version'] as const).filter((member) => !card[member]);
  const lists = (['defaultInputModes', 'defaultOutputModes', 'skills'] as const).filter((it) => !card[it]?.length);
  return [
    ...texts.map((path) => ({ path, detail: 'is missing' })),
    ...lists.map((path) => ({ path, detail: 'is empty' })),
    ...interfaceProblems(card.supportedInterfaces ?? []),
    ...(card.skills ?? []).flatMap(skillProblems),
  ];
}

function interfaceProblems(interfaces: NonNullable<AgentCard['supportedInterfaces']>): CardProblem[] {
  if (interfaces.length === 0) return [{ path: 'supportedInterfaces', detail: 'is empty: nobody can call this agent' }];
  return interfaces.flatMap(({ url, protocolBinding }, index) => [
    ...(URL.canParse(url ?? '') ? [] : [{ path: `supportedInterfaces[${index}].url`, detail: 'is no absolute URL' }]),
    ...(protocolBinding ? [] : [{ path: `supportedInterfaces[${index}].protocolBinding`, detail: 'is missing' }]),
  ]);
}

function skillProblems(skill: NonNullable<AgentCard['skills']>[number], index: number): CardProblem[] {
  const missing = (['id', 'name', 'description'] as const).filter((member) => !skill[member]);
  return missing.map((member) => ({ path: `skills[${index}].${member}`, detail: 'is missing' }));
}
