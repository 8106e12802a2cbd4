import { Route, Switch } from 'wouter';
import { TaskList } from './task-list.js';
import { TaskPage } from './task-page.js';

/** Shows the list of Tasks, or one Task with its log. */
export function View() {
  return (
    <Switch>
      <Route path="/:id">{({ id }) => <TaskPage key={id} id={id} />}</Route>
      <Route component={TaskList} />
    </Switch>
  );
}
