/** Colors by name, of reports and of charts, on white and on dark grounds. */
export const LIGHT = {
  back: '#ffffff',
  card: '#f5f6f8',
  text: '#16191d',
  quiet: '#565f69',
  line: '#868e97',
  grid: '#dfe3e8',
  good: '#16692f',
  bad: '#b3261e',
  accent: '#0b5cad',
  c1: '#0b5cad',
  c2: '#b4540a',
  c3: '#1b7340',
  c4: '#8a3fa8',
  c5: '#5b6470',
  c6: '#a8226b',
} as const;

export const DARK: Readonly<Record<keyof typeof LIGHT, string>> = {
  back: '#12151a',
  card: '#1b2027',
  text: '#e8ebee',
  quiet: '#a5aeb8',
  line: '#7c8691',
  grid: '#333b45',
  good: '#6fce8c',
  bad: '#ff9c8a',
  accent: '#7cb8f2',
  c1: '#6cb0f2',
  c2: '#f0a35e',
  c3: '#6fce8c',
  c4: '#cf9bec',
  c5: '#aab3bd',
  c6: '#f08fc0',
};

/** Names of the colors of lines and bars, in this order; each stands out from its ground by 3 to 1 at least. */
export const SERIES = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'] as const;
