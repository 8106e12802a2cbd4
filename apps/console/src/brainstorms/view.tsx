import { Route, Switch } from 'wouter';
import { BrainstormList } from './brainstorm-list.js';
import { BrainstormPage } from './brainstorm-page.js';
import { StartBrainstorm } from './start-brainstorm.js';

/** Brainstorms: the list, a form that starts one, and one with its passes and its state. */
export function View() {
  return (
    <Switch>
      <Route path="/new" component={StartBrainstorm} />
      <Route path="/:id">{({ id }) => <BrainstormPage key={id} id={id} />}</Route>
      <Route component={BrainstormList} />
    </Switch>
  );
}
