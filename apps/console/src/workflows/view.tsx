import { Route, Switch } from 'wouter';
import { EditorPage } from './editor-page.js';
import { WorkflowList } from './workflow-list.js';

/** Workflows: all of them, and one on its canvas. */
export function View() {
  return (
    <Switch>
      <Route path="/" component={WorkflowList} />
      <Route path="/new">
        <EditorPage key="new" name={undefined} />
      </Route>
      <Route path="/edit/:name">{({ name }) => <EditorPage key={name} name={decodeURIComponent(name)} />}</Route>
    </Switch>
  );
}
