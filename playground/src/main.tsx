/** Entry of the page. */
import { render } from 'preact';
import { App } from './app.tsx';
import type { PlaygroundDescription } from './description.ts';

const root = document.getElementById('app');
if (root) start(root);

async function start(element: HTMLElement): Promise<void> {
  render(<p class="quiet">Loading …</p>, element);
  try {
    const response = await fetch('/playground/model.json');
    if (!response.ok) throw new Error(`serve answered ${response.status}`);
    const description = (await response.json()) as PlaygroundDescription;
    element.replaceChildren();
    render(<App description={description} />, element);
  } catch (error) {
    render(
      <p role="alert">The page could not ask serve for its model: {String(error)}</p>,
      element,
    );
  }
}
