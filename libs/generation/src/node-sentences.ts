/** Description of each node type, for a model that writes workflows. */
export const NODE_SENTENCES: Readonly<Record<string, string>> = {
  input: 'Takes what a run is started with; its id is the name of the input.',
  agent: 'Lets a language model answer its prompt, with tools if it names some.',
  tool: 'Calls one tool with fixed arguments, without a model.',
  output: 'Is a result of the run: what its prompt says, or what the nodes before it answered.',
  external: 'Calls an A2A agent elsewhere by its URL.',
  script: 'Answers by fixed rules; it is for tests and trials.',
  set: 'Computes values with expressions, without a model.',
  wait: 'Pauses the run for a duration or until a time.',
  human: 'Asks a person and waits for the answer, which a form may shape.',
  conversation: 'Lets two agents talk with each other, turn by turn.',
  brainstorm: 'Lets several agents develop one plan in passes.',
  workflow: 'Runs another workflow, which it names or contains.',
};

/** Returns the sentence for a type. Plugin types are described by their schema alone. */
export function nodeSentence(type: string): string {
  return `${type}: ${NODE_SENTENCES[type] ?? 'A type of this service; the schema describes its config.'}`;
}
