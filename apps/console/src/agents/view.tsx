import { Route, Switch } from 'wouter';
import { AgentList } from './agent-list.js';
import { AgentPage } from './agent-page.js';

/** Shows the directory of agents, or one agent with its card and a playground. */
export function View() {
  return (
    <Switch>
      <Route path="/one" component={AgentPage} />
      <Route component={AgentList} />
    </Switch>
  );
}
