import { Route, Switch } from 'wouter';
import { TaskList } from './task-list.js';
import { TaskPage } from './task-page.js';

/** Tasks of every agent: the list, and one with its log. */
export function View() {
  return (
    <Switch>
      <Route path="/:id">{({ id }) => <TaskPage key={id} id={id} />}</Route>
      <Route component={TaskList} />
    </Switch>
  );
}
