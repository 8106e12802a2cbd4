/** CSS classes of each event type in the console panel. */
const COLORS: Readonly<Record<string, string>> = {
  'node.started': 'text-node-agent',
  'node.completed': 'text-node-output',
  'node.error': 'text-destructive',
  'model.request': 'text-purple-500 dark:text-purple-400',
  'model.response': 'text-purple-400 dark:text-purple-300',
  'model.error': 'text-destructive',
  'tool.call': 'text-node-tool',
  'tool.result': 'text-amber-600 dark:text-amber-300',
  'a2a.sending': 'text-blue-500 dark:text-blue-400',
  'a2a.received': 'text-blue-400 dark:text-blue-300',
  'workflow.failed': 'text-destructive font-semibold',
  done: 'text-node-output font-semibold',
  'edge.error': 'text-destructive',
  'node.retrying': 'text-node-tool',
  'run.deadline': 'text-destructive',
  error: 'text-destructive',
  info: 'text-muted-foreground',
};

const OTHERS = 'text-muted-foreground';

/** Returns the CSS classes of a line, by the type of its event. An unknown type is muted. */
export function eventColor(type: string): string {
  return COLORS[type] ?? OTHERS;
}
