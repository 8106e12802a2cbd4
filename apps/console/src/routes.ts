import {
  Bot,
  Brain,
  Gauge,
  Inbox,
  ListChecks,
  type LucideIcon,
  MessagesSquare,
  Play,
  Settings,
  Workflow,
} from 'lucide-react';
import { ApiProblem, sentenceFor } from './api/problem.js';
import { type ComponentType, lazy, type LazyExoticComponent } from 'react';

export interface ViewRoute {
  path: string;
  label: string;
  Icon: LucideIcon;
  /** Component of the view, loaded when it is first opened. Its own routes are relative to `path`. */
  View: LazyExoticComponent<ComponentType>;
}

/** Views of the console, in the order of the navigation. Each folder has its entry in `view.tsx`. */
export const ROUTES: readonly ViewRoute[] = [
  { path: '/overview', label: 'Overview', Icon: Gauge, View: loadView(() => import('./overview/view.js')) },
  { path: '/workflows', label: 'Workflows', Icon: Workflow, View: loadView(() => import('./workflows/view.js')) },
  { path: '/runs', label: 'Runs', Icon: Play, View: loadView(() => import('./runs/view.js')) },
  { path: '/inbox', label: 'Inbox', Icon: Inbox, View: loadView(() => import('./inbox/view.js')) },
  {
    path: '/conversations',
    label: 'Conversations',
    Icon: MessagesSquare,
    View: loadView(() => import('./conversations/view.js')),
  },
  { path: '/brainstorms', label: 'Brainstorms', Icon: Brain, View: loadView(() => import('./brainstorms/view.js')) },
  { path: '/agents', label: 'Agents', Icon: Bot, View: loadView(() => import('./agents/view.js')) },
  { path: '/tasks', label: 'Tasks', Icon: ListChecks, View: loadView(() => import('./tasks/view.js')) },
  { path: '/settings', label: 'Settings', Icon: Settings, View: loadView(() => import('./settings/view.js')) },
];

/** View of the documentation, to which the headers of pages link. It is not in the navigation. */
export const HelpView: LazyExoticComponent<ComponentType> = loadView(() => import('./help/view.js'));

function loadView(load: () => Promise<{ View: ComponentType }>): LazyExoticComponent<ComponentType> {
  return lazy(async () => ({ default: (await load().catch(throwUnreachable)).View }));
}

/**
 * Throws an error with a sentence for the person, in place of the browser's message about a module that failed to load.
 */
function throwUnreachable(): never {
  throw new ApiProblem(0, sentenceFor(0));
}
