import { Route, Switch } from 'wouter';
import { EditorPage } from './editor-page.js';
import { WorkflowList } from './workflow-list.js';

/** A new workflow becomes a saved one while its editor stays as it is, with what can be undone in it. */
const EDITOR = /^\/(?:new|edit\/(?<name>[^/]+))\/?$/;

/** Workflows: all of them, and one on its canvas. */
export function View() {
  return (
    <Switch>
      <Route path="/" component={WorkflowList} />
      <Route path={EDITOR}>
        {({ name }) => <EditorPage name={name === undefined ? undefined : decodeURIComponent(name)} />}
      </Route>
    </Switch>
  );
}
