import { Route, Switch } from 'wouter';
import { ComparePage } from './compare-page.js';
import { RunList } from './run-list.js';
import { RunPage } from './run-page.js';

/** Shows the list of runs, one run, or two runs side by side. */
export function View() {
  return (
    <Switch>
      <Route path="/" component={RunList} />
      <Route path="/compare" component={ComparePage} />
      <Route path="/:id/nodes/:node">
        {({ id, node }) => <RunPage key={id} runId={decodeURIComponent(id)} node={decodeURIComponent(node)} />}
      </Route>
      <Route path="/:id">{({ id }) => <RunPage key={id} runId={decodeURIComponent(id)} node={undefined} />}</Route>
    </Switch>
  );
}
