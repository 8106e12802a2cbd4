import { Redirect, Route, Switch } from 'wouter';
import { CardList } from './card-list.js';
import { CardPage } from './card-page.js';
import { EditCredential, NewCredential } from './credential-form.js';
import { CredentialList } from './credential-list.js';
import { FileList } from './file-list.js';
import { KeyList } from './key-list.js';
import { EditMcpServer, NewMcpServer } from './mcp-server-form.js';
import { McpServerList } from './mcp-server-list.js';
import { McpServerPage } from './mcp-server-page.js';
import { EditModel, NewModel } from './model-form.js';
import { ModelList } from './model-list.js';
import { EditRegisteredAgent, NewRegisteredAgent } from './registered-agent-form.js';
import { RegisteredAgentList } from './registered-agent-list.js';
import { RegisteredAgentPage } from './registered-agent-page.js';

/**
 * Shows the settings of an operator: models, registered agents, MCP servers, credentials, keys, cards of remote agents,
 * and files. The form for a new object has an address of its own, because an object may be called `new`.
 */
export function View() {
  return (
    <Switch>
      <Route path="/models" component={ModelList} />
      <Route path="/new-model" component={NewModel} />
      <Route path="/models/:name">{({ name }) => <EditModel key={name} name={name} />}</Route>
      <Route path="/agents" component={RegisteredAgentList} />
      <Route path="/new-agent" component={NewRegisteredAgent} />
      <Route path="/agents/:name">{({ name }) => <RegisteredAgentPage key={name} name={name} />}</Route>
      <Route path="/agents/:name/edit">{({ name }) => <EditRegisteredAgent key={name} name={name} />}</Route>
      <Route path="/mcp-servers" component={McpServerList} />
      <Route path="/new-mcp-server" component={NewMcpServer} />
      <Route path="/mcp-servers/:name">{({ name }) => <McpServerPage key={name} name={name} />}</Route>
      <Route path="/mcp-servers/:name/edit">{({ name }) => <EditMcpServer key={name} name={name} />}</Route>
      <Route path="/credentials" component={CredentialList} />
      <Route path="/new-credential" component={NewCredential} />
      <Route path="/credentials/:name">{({ name }) => <EditCredential key={name} name={name} />}</Route>
      <Route path="/keys" component={KeyList} />
      <Route path="/cards" component={CardList} />
      <Route path="/files" component={FileList} />
      <Route path="/cards/:id">{({ id }) => <CardPage key={id} id={id} />}</Route>
      <Route>
        <Redirect to="/models" replace />
      </Route>
    </Switch>
  );
}
