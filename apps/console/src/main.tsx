import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './shell/history-guard.js';
import { App } from './app.js';
import './styles.css';

const root = document.getElementById('root');
if (!root) throw new Error('The page has no root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
