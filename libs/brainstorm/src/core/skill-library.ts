/** Skills that agents of a brainstorm can have by name, and the texts that they stand for. */
const SKILLS: Readonly<Record<string, string>> = {
  accessibility: 'Consider people with every kind of disability: what they perceive, operate and understand.',
  cost: 'Consider what building and running costs, what drives the cost, and what would do for less.',
  data: 'Consider which data there is, who owns it, how it is kept, moved and deleted, and what its loss would mean.',
  operations: 'Consider deployment, monitoring, failure and recovery: who notices what, and what they can do.',
  performance: 'Consider load, latency and growth: where the limits are, and how they would be measured.',
  product: 'Consider who needs this and why, what they do today, and which smallest version would help them.',
  security: 'Consider who could attack this and how: trust boundaries, secrets, permissions, and abuse by insiders.',
  testing: 'Consider how each promise is proved: which tests fail first, and what cannot be tested at all.',
};

/** Names of all skills, joined by commas for messages. */
export const SKILL_NAMES = Object.keys(SKILLS).join(', ');

/** Returns the text of a skill by its name, or `undefined` if the library does not have it. */
export function skillWords(name: string): string | undefined {
  return Object.hasOwn(SKILLS, name) ? SKILLS[name] : undefined;
}
