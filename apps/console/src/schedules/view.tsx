import { Route, Switch } from 'wouter';
import { EditSchedule, NewSchedule } from './schedule-form.js';
import { ScheduleList } from './schedule-list.js';
import { SchedulePage } from './schedule-page.js';

/**
 * Shows schedules: workflows that run at given times. The form of a new schedule has an address of its own, because a
 * schedule may be called `new`.
 */
export function View() {
  return (
    <Switch>
      <Route path="/" component={ScheduleList} />
      <Route path="/new-schedule" component={NewSchedule} />
      <Route path="/named/:name">{({ name }) => <SchedulePage key={name} name={name} />}</Route>
      <Route path="/named/:name/edit">{({ name }) => <EditSchedule key={name} name={name} />}</Route>
    </Switch>
  );
}
