import { Route, Switch } from 'wouter';
import { CONTENTS } from './help-pages.js';
import { HelpPage } from './help-page.js';

/** Shows the contents of the documentation, or the page that the address names. */
export function View() {
  return (
    <Switch>
      <Route path="/">
        <HelpPage name={CONTENTS} />
      </Route>
      <Route path="/*">{({ '*': name }) => <HelpPage key={name} name={name} />}</Route>
    </Switch>
  );
}
