import { Route, Switch } from 'wouter';
import { EditorPage } from './editor-page.js';
import { HistoryPage } from './revisions/history-page.js';
import { WorkflowList } from './workflow-list.js';

/**
 * Pattern of the routes that show an editor: of a new workflow, optionally from a template, or of a saved workflow. One
 * pattern for all keeps the editor and its undo history when a new workflow is saved and its address changes.
 */
const EDITOR = /^\/(?:new(?:\/(?<template>[\w-]+))?|edit\/(?<name>[^/]+))\/?$/;

/** Pattern of the routes of a workflow's history, with the revision that is shown. */
const HISTORY = /^\/history\/(?<name>[^/]+)(?:\/(?<revision>[^/]+))?\/?$/;

/** Shows the list of workflows, or one workflow on its canvas or with its history. */
export function View() {
  return (
    <Switch>
      <Route path="/" component={WorkflowList} />
      <Route path={HISTORY}>
        {({ name = '', revision }) => (
          <HistoryPage
            key={name}
            name={decodeURIComponent(name)}
            revision={revision === undefined ? undefined : decodeURIComponent(revision)}
          />
        )}
      </Route>
      <Route path={EDITOR}>
        {({ name, template }) => (
          <EditorPage name={name === undefined ? undefined : decodeURIComponent(name)} template={template} />
        )}
      </Route>
    </Switch>
  );
}
