// Before the first paint, so that no page flashes in the other theme. The names are those of src/shell/theme.ts.
(() => {
  const chosen = localStorage.getItem('parley.theme') ?? 'system';
  const dark = chosen === 'dark' || (chosen === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.classList.toggle('dark', dark);
})();
