/** What every view of the page must hold for people who do not see it or use no mouse: axe-core, and what it cannot see. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Rules of WCAG 2.2, levels A and AA, and of good practice. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Everything that is wrong, in both themes; empty where nothing was found. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  const problems: string[] = [];
  // By the browser's own console, which the page's policy does not bind.
  await page.evaluate(axe.source);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    problems.push(...(await found(page)).map((problem) => `${colorScheme}: ${problem}`));
  }
  if (await page.evaluate('document.documentElement.scrollWidth > innerWidth')) {
    problems.push('scrolls sideways');
  }
  return problems;
}

async function found(page: Page): Promise<string[]> {
  const options = JSON.stringify({ runOnly: TAGS, resultTypes: ['violations'] });
  const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as axe.AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}
