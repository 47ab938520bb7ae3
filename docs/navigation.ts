/** The pages of the documentation in their order: the table of docs/README.md, the line at each page's end, the site. */
import { dirname, relative } from 'node:path';
import { withMarked } from '../tools/marked.ts';
import { table } from '../tools/table.ts';

/** One page. */
export interface Page {
  /** Below the repository. */
  readonly file: string;
  readonly title: string;
  /** Completes "you want to ...". */
  readonly wants: string;
}

/** Pages for one need: to learn, to get something done, to understand, to look up. */
export interface Group {
  readonly name: 'tutorials' | 'guides' | 'concepts' | 'reference';
  readonly title: string;
  readonly pages: readonly Page[];
}

function page(file: string, title: string, wants: string): Page {
  const isElsewhere = file.includes('/') || /^[A-Z]+\.md$/.test(file);
  return { file: isElsewhere ? file : `docs/${file}`, title, wants };
}

export const GROUPS: readonly Group[] = [
  {
    name: 'tutorials',
    title: 'Tutorials',
    pages: [
      page('try-on-a-laptop.md', 'Try it on a laptop', 'see it work on your own machine'),
      page('ten-minutes.md', 'Ten minutes', 'go from two tarballs to a tested project of your own'),
      page('first-deploy.md', 'First deploy', 'deploy for the first time, and know what it costs'),
      page(
        'detector-to-boxes.md',
        'Eight outputs to boxes',
        'turn the tensors of a detector into boxes',
      ),
      page(
        'examples/mobilenet/README.md',
        'MobileNetV2 from Keras',
        'take a network from Keras to an endpoint',
      ),
      page('pictures-to-parquet.md', 'JPEGs to Parquet', 'turn 100,000 pictures into a table'),
      page(
        'migrate-in-30-minutes.md',
        'A migration in 30 minutes',
        'move an archive with `inference.py` here, and prove that its answers stay the same',
      ),
      page('examples/README.md', 'Examples', 'look at complete small models'),
    ],
  },
  {
    name: 'guides',
    title: 'Guides',
    pages: [
      page('bring-your-own-model.md', 'Bring your own model', 'serve a model you have'),
      page('handlers.md', 'Handlers', 'write code around the model'),
      page('requests.md', 'Requests', 'send requests and read answers'),
      page('client/README.md', 'The client for TypeScript', 'call from Node or a browser'),
      page('client-python/README.md', 'The client for Python', 'call from Python'),
      page('https-api.md', 'Over HTTPS', 'let others call over HTTPS, with a key or a token'),
      page('ci.md', 'In CI', 'test and deploy in GitHub Actions or GitLab'),
      page(
        'updating-and-rolling-back.md',
        'Updating and rolling back',
        'change what is deployed, or go back',
      ),
      page(
        'model-registry.md',
        'The Model Registry',
        'keep versions of a model, and deploy what is approved',
      ),
      page(
        'drift.md',
        'Drift and shadows',
        'see whether requests or answers have changed, or a shadow agrees',
      ),
      page('smoke-test.md', 'Smoke test', 'understand what a deployment checks'),
      page(
        'monitoring.md',
        'Monitoring',
        'see what an endpoint does: dashboard, alarms, logs, metrics',
      ),
      page(
        'asynchronous.md',
        'Asynchronous endpoints',
        'answer large or slow requests, and sleep between them',
      ),
      page(
        'multi-model.md',
        'Multi-model endpoints',
        'hold hundreds of models on the same instances',
      ),
      page(
        'inference-components.md',
        'Inference components',
        'share instances between a few models, or let a real-time endpoint sleep',
      ),
      page('batch.md', 'Batch transform', 'run over millions of objects'),
      page('performance.md', 'Performance', 'make it faster'),
      page('private-networks.md', 'Private networks', 'stay inside a VPC'),
      page('SECURITY.md', 'Security', 'know what a caller can and cannot do, and what ships'),
      page('troubleshooting.md', 'Troubleshooting', 'find out why something fails'),
      page('deleting-everything.md', 'Deleting everything', 'stop paying'),
      page(
        'migrating-from-the-python-container.md',
        'From the Python container',
        'move from the AWS TensorFlow Serving container (`inference.py`)',
      ),
      page(
        'migrating-from-the-python-sdk.md',
        'From the Python SDK',
        'move from `TensorFlowModel.deploy()` and `Transformer`',
      ),
      page('migrating-from-triton.md', 'From Triton', "move from Triton's TensorFlow backend"),
      page(
        'migrating-from-torchserve.md',
        'From TorchServe',
        "move from handlers of TorchServe or SageMaker's PyTorch container",
      ),
      page(
        'real-server.md',
        'Real server',
        'try all of this with a real TensorFlow Serving, the first thing to do on a machine with Docker',
      ),
    ],
  },
  {
    name: 'concepts',
    title: 'Concepts',
    pages: [
      page('concepts.md', 'Concepts', 'understand the words and how they hang together'),
      page('glossary.md', 'Glossary', 'look up a word'),
      page('architecture.md', 'Architecture', 'know how the parts fit'),
      page('reliability.md', 'Reliability', 'know what happens to requests while something fails'),
      page(
        'where-it-differs.md',
        'Where it differs',
        "know where answers differ from TensorFlow's",
      ),
      page('conformance.md', 'Conformance', 'know what answers were compared with, and how many'),
      page('fuzzing.md', 'Fuzzing', 'know what the parsers were tried with'),
      page('docs/decisions/two-packages.md', 'Two packages', 'know why there are two packages'),
      page(
        'docs/decisions/own-parquet-reader.md',
        'A Parquet reader of our own',
        'know why the runtime reads Parquet itself',
      ),
      page('CONTRIBUTING.md', 'Contributing', 'change the project itself'),
    ],
  },
  {
    name: 'reference',
    title: 'Reference',
    pages: [
      page('command-line.md', 'Command line', 'look up a verb, an option or an exit status'),
      page(
        'configuration.md',
        'Configuration',
        'know what `serving.config.ts` may hold, or use the constructs in your own app',
      ),
      page('constructs.md', 'Constructs', 'look up a construct and its props'),
      page(
        'reference.md',
        'The container',
        'look up a variable, a route, a media type or a custom attribute',
      ),
      page('errors.md', 'Errors', 'look up an error code'),
      page(
        'sagemaker-features.md',
        "SageMaker's features",
        "know which of SageMaker's features there are, and what they cost",
      ),
      page(
        'aws-rules.md',
        "AWS's rules",
        'know what AWS would refuse, and the quotas an update needs',
      ),
      page('tensorflow-serving.md', 'Releases', 'choose a release of TensorFlow Serving'),
      page('bench/RESULTS.md', 'Measured results', 'see every benchmark with its date and machine'),
      page('CHANGELOG.md', 'Changelog', 'know what changed'),
    ],
  },
];

/** Every page, in order. */
export const PAGES: readonly Page[] = GROUPS.flatMap(({ pages }) => pages);

/** The start of the documentation. */
export const START: Page = { file: 'docs/README.md', title: 'Documentation', wants: '' };
const FOOTER = /\n*<!-- next -->\n[^\n]*\n*$/;

/** The page after this one; the last one leads to the start. */
function after(file: string): Page {
  const at = PAGES.findIndex((entry) => entry.file === file);
  if (at < 0) throw new Error(`${file} is in no group. Add it to docs/navigation.ts.`);
  return PAGES[at + 1] ?? START;
}

function linkFrom(file: string, to: Page): string {
  return `[${to.title}](${relative(dirname(file), to.file)})`;
}

/** The text of a page with the link to the page after it as its last line. `file` is below the repository. */
export function withNext(file: string, text: string): string {
  return `${withoutNext(text)}\n<!-- next -->\nNext: ${linkFrom(file, after(file))}\n`;
}

/** The text without that line: the site has links of its own. */
export function withoutNext(text: string): string {
  return `${text.replace(FOOTER, '').trimEnd()}\n`;
}

/** docs/README.md with the pages of each group between its marks. */
export function withPages(text: string): string {
  return withMarked(text, 'pages', (name) => {
    const group = GROUPS.find((candidate) => candidate.name === name);
    if (group === undefined) throw new Error(`${name} is no group of docs/navigation.ts.`);
    const rows = group.pages.map((entry) => [entry.wants, linkFrom(START.file, entry)]);
    return table(['you want to', 'read'], rows);
  });
}
