import { Moon, Sun } from 'lucide-react';
import { chooseTheme, useTheme } from './theme.js';

export function ThemeSwitch() {
  const { dark } = useTheme();
  const label = dark ? 'Use the light theme' : 'Use the dark theme';
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={() => chooseTheme(dark ? 'light' : 'dark')}
      className="rounded-md p-2 text-muted-foreground hover:bg-muted hover:text-foreground"
    >
      {dark ? <Sun className="size-4" aria-hidden /> : <Moon className="size-4" aria-hidden />}
    </button>
  );
}
