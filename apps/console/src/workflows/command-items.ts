import { nodeLook } from '../nodes/node-looks.js';

/** A choice of the command palette. */
export interface CommandItem {
  /** Heading above the choice in the list. */
  group: string;
  label: string;
  /** Text beside the label, such as a description; the search also matches it. */
  detail: string;
  isDisabled?: boolean;
  run: () => void;
}

/** Maximum number of choices that are listed at once. */
const MOST_LISTED = 50;

/** Returns the choices whose label or detail has all typed words, those whose label begins with the text first. */
export function findItems(items: readonly CommandItem[], typed: string): { found: CommandItem[]; more: number } {
  const wanted = typed.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const matching = items.filter(({ label, detail, group, isDisabled }) => {
    const text = `${label} ${detail} ${group}`.toLowerCase();
    return !isDisabled && words.every((word) => text.includes(word));
  });
  const isFirst = ({ label }: CommandItem): boolean => label.toLowerCase().startsWith(wanted);
  const sorted = wanted === '' ? matching : matching.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
  return { found: sorted.slice(0, MOST_LISTED), more: Math.max(0, sorted.length - MOST_LISTED) };
}

/** Returns a choice for each node. Choosing it goes to the node. */
export function nodeItems(nodes: readonly { id: string; type: string }[], goTo: (id: string) => void): CommandItem[] {
  return nodes.map(({ id, type }) => ({
    group: 'Go to a node',
    label: id,
    detail: nodeLook(type).label,
    run: () => goTo(id),
  }));
}

/** Returns a choice for each node type. Choosing it adds a node of the type. */
export function typeItems(
  types: readonly { type: string; description?: string | undefined }[],
  add: (type: string) => void,
): CommandItem[] {
  return types.map(({ type, description }) => ({
    group: 'Add a node',
    label: nodeLook(type).label,
    detail: description ?? nodeLook(type).description,
    run: () => add(type),
  }));
}
