/** Blocks of `mermaid` as diagrams: the text stays in the page, and a script of the site draws it. */
import type { MarkdownRenderer } from 'vitepress';

/** Makes the generator leave such a block as `<pre class="mermaid">` with its text. */
export function leaveDiagrams(markdown: MarkdownRenderer): void {
  const fence = markdown.renderer.rules.fence;
  markdown.renderer.rules.fence = (tokens, index, options, environment, self) => {
    const token = tokens[index];
    if (token?.info.trim() === 'mermaid') {
      return `<pre class="mermaid">${markdown.utils.escapeHtml(token.content)}</pre>\n`;
    }
    return fence?.(tokens, index, options, environment, self) ?? '';
  };
}

/** Draws the diagrams of the page that are not drawn yet, in the colors of the theme. */
export async function drawDiagrams(isDark: boolean): Promise<void> {
  const blocks = [...document.querySelectorAll<HTMLElement>('pre.mermaid')];
  if (blocks.length === 0) return;
  const { default: mermaid } = await import('mermaid');
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    theme: isDark ? 'dark' : 'neutral',
  });
  for (const block of blocks) {
    // Drawn anew for another theme, from the text.
    block.dataset.text ??= block.textContent ?? '';
    block.textContent = block.dataset.text;
    delete block.dataset.processed;
  }
  await mermaid.run({ nodes: blocks });
}
