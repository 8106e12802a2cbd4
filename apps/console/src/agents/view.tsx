import { Route, Switch } from 'wouter';
import { AgentList } from './agent-list.js';
import { AgentPage } from './agent-page.js';

/** Agents, served and remote: the directory, and one with its card and a playground. */
export function View() {
  return (
    <Switch>
      <Route path="/one" component={AgentPage} />
      <Route component={AgentList} />
    </Switch>
  );
}
