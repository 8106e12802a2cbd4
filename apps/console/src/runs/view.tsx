import { Route, Switch } from 'wouter';
import { RunList } from './run-list.js';
import { RunPage } from './run-page.js';

/** Shows the list of runs, or one run. */
export function View() {
  return (
    <Switch>
      <Route path="/" component={RunList} />
      <Route path="/:id/nodes/:node">
        {({ id, node }) => <RunPage key={id} runId={decodeURIComponent(id)} node={decodeURIComponent(node)} />}
      </Route>
      <Route path="/:id">{({ id }) => <RunPage key={id} runId={decodeURIComponent(id)} node={undefined} />}</Route>
    </Switch>
  );
}
