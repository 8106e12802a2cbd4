import { Redirect, Route, Switch } from 'wouter';
import { CardList } from './card-list.js';
import { CardPage } from './card-page.js';
import { EditCredential, NewCredential } from './credential-form.js';
import { CredentialList } from './credential-list.js';
import { KeyList } from './key-list.js';
import { EditModel, NewModel } from './model-form.js';
import { ModelList } from './model-list.js';

/** What the operator keeps: models, credentials, keys of callers, and cards of agents elsewhere. */
export function View() {
  return (
    <Switch>
      <Route path="/models" component={ModelList} />
      <Route path="/models/new" component={NewModel} />
      <Route path="/models/:name">{({ name }) => <EditModel key={name} name={name} />}</Route>
      <Route path="/credentials" component={CredentialList} />
      <Route path="/credentials/new" component={NewCredential} />
      <Route path="/credentials/:name">{({ name }) => <EditCredential key={name} name={name} />}</Route>
      <Route path="/keys" component={KeyList} />
      <Route path="/cards" component={CardList} />
      <Route path="/cards/:id">{({ id }) => <CardPage key={id} id={id} />}</Route>
      <Route>
        <Redirect to="/models" replace />
      </Route>
    </Switch>
  );
}
