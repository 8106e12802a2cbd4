import { PageHeader } from '../components/page-header.js';

export function View() {
  return <PageHeader title="Runs" />;
}
