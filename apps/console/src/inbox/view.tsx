import { Inbox } from './inbox.js';

/** Shows the inbox: the questions that wait for a person. */
export function View() {
  return <Inbox />;
}
