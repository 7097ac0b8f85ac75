// Light, dark, or as the system has it.
import { createStore, remembered } from './store.js';

export const theme = remembered('theme', 'system');

// themeChanges counts, for what draws with colours of its own.
export const themeChanges = createStore(0);

export function applyTheme() {
  const chosen = theme.get();
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  themeChanges.set((n) => n + 1);
}

theme.subscribe(applyTheme);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
