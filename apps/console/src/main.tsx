import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './shell/history-guard.js';
import { queries } from './api/queries.js';
import { followSession } from './api/sign-in.js';
import { App } from './app.js';
import { preloadView } from './routes.js';
import { keepFocus } from './shell/focus-keeper.js';
import './styles.css';

const root = document.getElementById('root');
if (!root) throw new Error('The page has no root');
preloadView(location.pathname);
followSession();
keepFocus();
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
