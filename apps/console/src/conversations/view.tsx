import { Route, Switch } from 'wouter';
import { ConversationList } from './conversation-list.js';
import { ConversationPage } from './conversation-page.js';
import { StartConversation } from './start-conversation.js';

/** Shows the list of conversations, the form that starts one, or one conversation. */
export function View() {
  return (
    <Switch>
      <Route path="/new" component={StartConversation} />
      <Route path="/:id">{({ id }) => <ConversationPage key={id} id={id} />}</Route>
      <Route component={ConversationList} />
    </Switch>
  );
}
