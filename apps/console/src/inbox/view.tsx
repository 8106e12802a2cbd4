import { Inbox } from './inbox.js';

/** Shows the inbox. */
export function View() {
  return <Inbox />;
}
