import {
  Bot,
  Brain,
  CalendarClock,
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
  /** Starts to load the view. */
  preload: () => void;
}

/** Views of the console, in the order of the navigation. Each folder has its entry in `view.tsx`. */
export const ROUTES: readonly ViewRoute[] = [
  { path: '/overview', label: 'Overview', Icon: Gauge, ...lazyView(() => import('./overview/view.js')) },
  { path: '/workflows', label: 'Workflows', Icon: Workflow, ...lazyView(() => import('./workflows/view.js')) },
  { path: '/runs', label: 'Runs', Icon: Play, ...lazyView(() => import('./runs/view.js')) },
  { path: '/schedules', label: 'Schedules', Icon: CalendarClock, ...lazyView(() => import('./schedules/view.js')) },
  { path: '/inbox', label: 'Inbox', Icon: Inbox, ...lazyView(() => import('./inbox/view.js')) },
  {
    path: '/conversations',
    label: 'Conversations',
    Icon: MessagesSquare,
    ...lazyView(() => import('./conversations/view.js')),
  },
  { path: '/brainstorms', label: 'Brainstorms', Icon: Brain, ...lazyView(() => import('./brainstorms/view.js')) },
  { path: '/agents', label: 'Agents', Icon: Bot, ...lazyView(() => import('./agents/view.js')) },
  { path: '/tasks', label: 'Tasks', Icon: ListChecks, ...lazyView(() => import('./tasks/view.js')) },
  { path: '/settings', label: 'Settings', Icon: Settings, ...lazyView(() => import('./settings/view.js')) },
];

/** View of the documentation. Headers of pages link to it; it is not in the navigation. */
export const { View: HelpView } = lazyView(() => import('./help/view.js'));

/** Starts to load the view that an address names, beside the frame around it. */
export function preloadView(address: string): void {
  ROUTES.find(({ path }) => address === path || address.startsWith(`${path}/`))?.preload();
}

function lazyView(load: () => Promise<{ View: ComponentType }>): Pick<ViewRoute, 'View' | 'preload'> {
  return {
    View: lazy(async () => ({ default: (await load().catch(throwUnreachable)).View })),
    // The view itself reports a failure when it is shown.
    preload: () => void load().catch(() => undefined),
  };
}

/**
 * Throws an error with a sentence for the person, in place of the browser's message about a module that failed to load.
 */
function throwUnreachable(): never {
  throw new ApiProblem(0, sentenceFor(0));
}
