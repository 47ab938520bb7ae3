/** VitePress: see docs/site/build.ts. */
import { anchorOf, sidebar } from '../stage.ts';
import { leaveDiagrams } from './diagrams.ts';

export default {
  title: 'SageMaker TensorFlow CDK',
  description: 'TensorFlow SavedModels on SageMaker with a TypeScript handler',
  srcDir: '.cache/pages',
  outDir: 'dist',
  cacheDir: '.cache/vitepress',
  cleanUrls: false,
  markdown: { anchor: { slugify: anchorOf }, config: leaveDiagrams },
  themeConfig: {
    nav: [
      { text: 'Ten minutes', link: '/ten-minutes.md' },
      { text: 'Documentation', link: '/documentation.md' },
      { text: 'Examples', link: '/examples.md' },
      { text: 'Results', link: '/bench-results.md' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    // In the page, without a service: the index is a file of the site.
    search: { provider: 'local' },
  },
};
