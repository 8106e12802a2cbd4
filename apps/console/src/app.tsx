import { Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { EmptyState } from './components/empty-state.js';
import { usePageTitle } from './components/page-title.js';
import { ViewBoundary } from './components/view-boundary.js';
import { FirstPage } from './overview/first-page.js';
import { HelpView, ROUTES } from './routes.js';
import { Shell } from './shell/shell.js';
import { SIGNED_IN_PATH } from './api/sign-in.js';
import { SignInDialog } from './shell/sign-in-dialog.js';
import { SignedIn, SignInFailed } from './shell/sign-in-pages.js';
import { Loading } from './components/loading.js';

/** Shows the shell and the view that the address names. */
export function App() {
  return (
    <Shell>
      <Switch>
        <Route path="/">
          <FirstPage />
        </Route>
        {ROUTES.map(({ path, View }) => (
          <Route key={path} path={path} nest>
            <ViewBoundary>
              <Suspense fallback={<Loading />}>
                <View />
              </Suspense>
            </ViewBoundary>
          </Route>
        ))}
        <Route path="/help" nest>
          <ViewBoundary>
            <Suspense fallback={<Loading />}>
              <HelpView />
            </Suspense>
          </ViewBoundary>
        </Route>
        <Route path={SIGNED_IN_PATH}>
          <SignedIn />
        </Route>
        <Route path="/sign-in-failed">
          <SignInFailed />
        </Route>
        <Route>
          <NothingHere />
        </Route>
      </Switch>
      <SignInDialog />
    </Shell>
  );
}

function NothingHere() {
  usePageTitle(['Nothing here']);
  return <EmptyState title="There is nothing at this address">Choose a view on the left.</EmptyState>;
}
