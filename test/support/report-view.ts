/** A report in Chromium, as people see it: wide and on a phone, light and dark, and printed. */
import type { Browser } from 'playwright-core';
import { accessibilityProblems } from '../../playground/test/accessibility.ts';
import { openContext, type View } from '../../playground/test/browser.ts';

const VIEWS: readonly View[] = [
  { width: 1280, colorScheme: 'light' },
  { width: 375, colorScheme: 'dark' },
];

/** Letters of charts beyond the chart's edge, which the browser does not show; half a pixel is rounding. */
const CUT_OFF = `[...document.querySelectorAll('figure svg[role=img]')].flatMap((svg) => {
  const edge = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.left < edge.left - 0.5 || box.right > edge.right + 0.5;
  }).map((text) => text.textContent);
})`;

/** Everything that is wrong with it: accessibility, letters cut off, errors, requests to anywhere, scrolling sideways. */
export async function reportProblems(browser: Browser, markup: string): Promise<string[]> {
  const problems: string[] = [];
  for (const view of VIEWS) {
    const { context, observed } = await openContext(browser, view);
    try {
      const page = await context.newPage();
      await page.setContent(markup);
      problems.push(...(await accessibilityProblems(page)));
      // The chart for this width, and no other.
      const shown = await page.locator('figure svg[role=img]:visible').count();
      const figures = await page.locator('figure:has(svg[role=img])').count();
      if (shown !== figures) problems.push(`${shown} charts are shown in ${figures} figures`);
      for (const text of (await page.evaluate(CUT_OFF)) as string[])
        problems.push(`"${text}" is cut off at ${view.width} pixels`);
      await page.emulateMedia({ media: 'print', colorScheme: view.colorScheme });
      const paper = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      if (paper !== 'rgb(255, 255, 255)') problems.push(`printed on ${paper}`);
      problems.push(...observed.problems, ...observed.elsewhere);
    } finally {
      await context.close();
    }
  }
  return problems;
}
