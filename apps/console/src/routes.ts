import { Bot, Brain, Inbox, ListChecks, type LucideIcon, MessagesSquare, Play, Settings, Workflow } from 'lucide-react';
import { ApiProblem, sentenceFor } from './api/problem.js';
import { type ComponentType, lazy, type LazyExoticComponent } from 'react';

export interface ViewRoute {
  path: string;
  label: string;
  Icon: LucideIcon;
  /** Component loaded when first opened; its own routes are relative to `path`. */
  View: LazyExoticComponent<ComponentType>;
}

/** Views of the console, in the order of the navigation. Each folder has its entry in `view.tsx`. */
export const ROUTES: readonly ViewRoute[] = [
  { path: '/workflows', label: 'Workflows', Icon: Workflow, View: view(() => import('./workflows/view.js')) },
  { path: '/runs', label: 'Runs', Icon: Play, View: view(() => import('./runs/view.js')) },
  { path: '/inbox', label: 'Inbox', Icon: Inbox, View: view(() => import('./inbox/view.js')) },
  {
    path: '/conversations',
    label: 'Conversations',
    Icon: MessagesSquare,
    View: view(() => import('./conversations/view.js')),
  },
  { path: '/brainstorms', label: 'Brainstorms', Icon: Brain, View: view(() => import('./brainstorms/view.js')) },
  { path: '/agents', label: 'Agents', Icon: Bot, View: view(() => import('./agents/view.js')) },
  { path: '/tasks', label: 'Tasks', Icon: ListChecks, View: view(() => import('./tasks/view.js')) },
  { path: '/settings', label: 'Settings', Icon: Settings, View: view(() => import('./settings/view.js')) },
];

function view(load: () => Promise<{ View: ComponentType }>): LazyExoticComponent<ComponentType> {
  return lazy(async () => ({ default: (await load().catch(unreachable)).View }));
}

/** Replaces the browser's message about modules by a sentence for the person. */
function unreachable(): never {
  throw new ApiProblem(0, sentenceFor(0));
}
