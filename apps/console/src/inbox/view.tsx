import { Inbox } from './inbox.js';

/** What runs ask of people. */
export function View() {
  return <Inbox />;
}
