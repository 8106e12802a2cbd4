import { Route, Switch } from 'wouter';
import { EditorPage } from './editor-page.js';
import { WorkflowList } from './workflow-list.js';

/** Pattern of the routes that share an editor: a new workflow keeps its editor and undo history once it is saved. */
const EDITOR = /^\/(?:new|edit\/(?<name>[^/]+))\/?$/;

/** Shows the list of workflows, or one workflow on its canvas. */
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
