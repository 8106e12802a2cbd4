import { Route, Switch } from 'wouter';
import { BrainstormList } from './brainstorm-list.js';
import { BrainstormPage } from './brainstorm-page.js';
import { StartBrainstorm } from './start-brainstorm.js';

/** Shows the list of brainstorms, the form that starts one, or one brainstorm. */
export function View() {
  return (
    <Switch>
      <Route path="/new" component={StartBrainstorm} />
      <Route path="/:id">{({ id }) => <BrainstormPage key={id} id={id} />}</Route>
      <Route component={BrainstormList} />
    </Switch>
  );
}
