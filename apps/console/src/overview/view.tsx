import { Route, Switch } from 'wouter';
import { OverviewPage } from './overview-page.js';
import { UsagePage } from './usage-page.js';

/** Shows the overview of the caller's runs, or the tokens and cost of models. */
export function View() {
  return (
    <Switch>
      <Route path="/" component={OverviewPage} />
      <Route path="/usage" component={UsagePage} />
    </Switch>
  );
}
