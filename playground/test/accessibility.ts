/** What every view of the page must hold for people who do not see it or use no mouse. Runs in the page. */
import type { Page } from 'playwright-core';

/** Everything that is wrong; empty where nothing was found. */
export function accessibilityProblems(page: Page): Promise<string[]> {
  return page.evaluate(CHECK);
}

/** As text: the tests' types know no browser. */
const CHECK = `(() => {
  const problems = [];
  const seen = (element) => element.getClientRects().length > 0;
  const shown = (element) => element.outerHTML.slice(0, 120);
  const nameOf = (element) =>
    element.getAttribute('aria-label') ||
    [...(element.labels ?? [])].map((label) => label.textContent.trim()).join(' ') ||
    element.textContent.trim() ||
    [...element.querySelectorAll('img[alt]')].map((image) => image.alt).join(' ') ||
    element.title;
  for (const element of document.querySelectorAll('button, select, textarea, input, a, summary')) {
    if (seen(element) && !nameOf(element)) problems.push('no name: ' + shown(element));
  }
  for (const image of document.querySelectorAll('img:not([alt]), [role=img]:not([aria-label]):not(:has(title))')) {
    problems.push('no text instead: ' + shown(image));
  }
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push('id twice: ' + id);
  for (const attribute of ['aria-controls', 'aria-labelledby', 'aria-describedby']) {
    for (const element of document.querySelectorAll('[' + attribute + ']')) {
      const missing = element.getAttribute(attribute).split(' ').filter((id) => !ids.includes(id));
      if (missing.length > 0) problems.push(attribute + ' of nothing: ' + shown(element));
    }
  }
  if (document.querySelectorAll('h1').length !== 1 || !document.querySelector('main')) problems.push('no h1 or main');
  if (!document.documentElement.lang) problems.push('no language');
  if (document.documentElement.scrollWidth > innerWidth) problems.push('scrolls sideways: ' + document.documentElement.scrollWidth);

  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const [R, G, B] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * R + 0.7152 * G + 0.0722 * B;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255];
  };
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !seen(element) || element.disabled || ['SCRIPT', 'STYLE', 'OPTION', 'TITLE'].includes(element.tagName)) continue;
    const [a, b] = [luminance(rgb(getComputedStyle(element).color)), luminance(behind(element))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) problems.push('contrast ' + contrast.toFixed(2) + ': ' + shown(element));
  }
  return problems;
})()`;
