/** The files of a new project, by template. */
import FEATURE_FLAGS from 'aws-cdk-lib/recommended-feature-flags.json';
import { packageVersion } from '../files.ts';

/** Kinds of projects. */
export const TEMPLATES = ['endpoint', 'batch', 'handler', 'cdk'] as const;

/** A kind of project. */
export type Template = (typeof TEMPLATES)[number];

/** What the model answered to the sample, which the tests and the smoke test expect. */
export const GOLDEN = 'goldens/sample.json';

/** What the files depend on. */
export interface TemplateContext {
  readonly template: Template;
  /** Name of the project and its model: letters, digits and hyphens. */
  readonly name: string;
  /** Path of the sample in the project, for example `samples/sample.npz`. */
  readonly sample: string;
  readonly contentType: string;
}

/**
 * Versions that this version of the package was tried with. Biome 2.6 has builds for more platforms, which some
 * registries lack: npm install then leaves them out of the lockfile, and npm ci refuses it.
 */
const VERSIONS = {
  '@biomejs/biome': '2.5.15',
  '@types/node': '^20.19.0',
  'aws-cdk': '^2.1148.1',
  'aws-cdk-lib': '^2.276.0',
  constructs: '^10.8.1',
  tsx: '^4.23.15',
  typescript: '^7.0.2',
} as const;

/** Texts by path, for every kind of project. */
export function filesOf(context: TemplateContext): Readonly<Record<string, string>> {
  return {
    'package.json': json(manifestOf(context)),
    'tsconfig.json': json(TSCONFIG),
    'biome.json': json({ files: { includes: ['**', '!cdk.out', '!.cache', '!goldens'] } }),
    '.gitignore': 'node_modules/\ncdk.out/\n.cache/\nmodel.tar.gz\n*.tgz\n!vendor/*.tgz\n',
    '.github/workflows/ci.yml': workflowOf(context),
    'README.md': readmeOf(context),
    'inference.ts': handlerOf(context),
    'tests/model.test.ts': testOf(context),
    ...(hasApp(context) && { 'app.ts': appOf(context), 'cdk.json': json(CDK) }),
    ...(hasConfig(context) && { 'serving.config.ts': configOf(context) }),
  };
}

/**
 * The command that installs a project's packages. Those of version 0 come from tarballs, in the folder `from`.
 */
export function installCommand(template: Template, from: string): string {
  if (!comesFromTarballs()) return 'npm install';
  const own = template === 'handler' ? `sagemaker-tfs-${packageVersion()}.tgz` : '*.tgz';
  return `npm install ${from}/${own}`;
}

/** Whether this version of the packages has to be installed from tarballs. */
export function comesFromTarballs(): boolean {
  return packageVersion().startsWith('0.');
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const hasApp = ({ template }: TemplateContext) => template !== 'handler';
const hasConfig = ({ template }: TemplateContext) =>
  template === 'endpoint' || template === 'batch';
const hasSmokeTest = ({ template }: TemplateContext) =>
  template === 'endpoint' || template === 'cdk';

function manifestOf(context: TemplateContext) {
  const { name, sample } = context;
  const own = `^${packageVersion()}`;
  const { 'aws-cdk': cdk, 'aws-cdk-lib': library, constructs, ...tools } = VERSIONS;
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: {
      serve: 'sagemaker-tfs serve model --handler inference.ts',
      test: 'node --import tsx --test tests/*.test.ts',
      typecheck: 'tsc --noEmit',
      lint: 'biome lint --error-on-warnings .',
      package: `sagemaker-tfs package model --handler inference.ts --sample ${sample} --out model.tar.gz`,
      ...(hasApp(context) && { synth: 'cdk synth --quiet "**"', deploy: 'cdk deploy --all' }),
      // Nothing else reads the types: esbuild, which bundles the handler, drops them.
      rehearse: `npm run typecheck && npm run package && sagemaker-tfs verify model.tar.gz --sample ${sample}${hasApp(context) ? ' && npm run synth' : ''}`,
    },
    dependencies: {
      ...(hasApp(context) && {
        '@sagemaker-tfs/cdk': own,
        'aws-cdk-lib': library,
        constructs,
      }),
      'sagemaker-tfs': own,
    },
    devDependencies: { ...tools, ...(hasApp(context) && { 'aws-cdk': cdk }) },
  };
}

/**
 * With the flags that `cdk init` of the CDK's own would write. Without them S3's access logs go by ACLs, which new buckets
 * refuse.
 * @see https://docs.aws.amazon.com/cdk/v2/guide/featureflags.html
 */
const CDK = { app: 'tsx app.ts', context: FEATURE_FLAGS };

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['*.ts', 'tests/*.ts'],
};

function handlerOf(context: TemplateContext): string {
  const places = ['the scripts of package.json', 'tests/model.test.ts'];
  if (hasConfig(context)) places.push('serving.config.ts');
  else if (hasApp(context)) places.push('app.ts');
  const last = places.pop();
  return `/**
 * What happens around the model. Where TensorFlow Serving's own formats are enough, delete this file and what names
 * it in ${places.join(', ')} and ${last}.
 * Then UPDATE_GOLDENS=1 npm test writes the golden answer anew.
 */
import type { OutputHandler } from 'sagemaker-tfs/handler';

/** Gets the model's outputs by name; what it returns is the answer. */
export const outputHandler: OutputHandler = (outputs, context) => {
  context.log.debug({ outputs: Object.keys(outputs) }, 'predicted');
  return outputs;
};
`;
}

function testOf({ sample, contentType }: TemplateContext): string {
  return `import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { matchesGolden, type ModelUnderTest, startModel } from 'sagemaker-tfs/testing';

let model: ModelUnderTest;
before(async () => {
  model = await startModel({ model: 'model', handler: 'inference.ts' });
});
after(() => model?.stop());

test('the sample is answered as before', async () => {
  const body = readFileSync('${sample}');
  const answer = await model.post(body, { contentType: '${contentType}', accept: 'application/json' });
  // UPDATE_GOLDENS=1 npm test writes the file anew.
  matchesGolden('${GOLDEN}', answer.json());
});
`;
}

function configOf({ template, name, sample, contentType }: TemplateContext): string {
  const use =
    template === 'batch'
      ? `batch: { instanceType: 'ml.c6i.xlarge', contentType: '${contentType}' },`
      : `endpoint: {
        instanceType: 'ml.c6i.xlarge',
        smokeTest: {
          // A deployment succeeds only if the endpoint answers the sample as the tests expect it.
          samples: [
            {
              name: 'sample',
              file: '${sample}',
              contentType: '${contentType}',
              expect: [{ golden: '${GOLDEN}' }],
            },
          ],
        },
      },`;
  return `import { defineConfig } from '@sagemaker-tfs/cdk';

export default defineConfig({
  // Start of the stacks' names; no other project of the account may have it.
  name: '${name}',
  models: {
    model: {
      model: 'model',
      handler: 'inference.ts',
      ${use}
    },
  },
});
`;
}

function appOf(context: TemplateContext): string {
  if (hasConfig(context)) {
    return `import { addServingStacks, readConfig, runApp } from '@sagemaker-tfs/cdk';

await runApp(async (app) => {
  // cdk synth -c config=FILE takes another file.
  const file = String(app.node.tryGetContext('config') ?? 'serving.config.ts');
  addServingStacks(app, await readConfig(file));
});
`;
  }
  return `import { ModelData, RealtimeEndpoint, runApp, ServingImage, SmokeTest, TensorFlowModel } from '@sagemaker-tfs/cdk';
import { Stack } from 'aws-cdk-lib/core';

await runApp((app) => {
  const stack = new Stack(app, '${context.name}');
  const model = new TensorFlowModel(stack, 'Model', {
    image: new ServingImage(stack, 'Image'),
    modelData: ModelData.fromDirectory('model', {
      handler: 'inference.ts',
      samples: ['${context.sample}'],
    }),
  });
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model, instanceType: 'ml.c6i.xlarge' }],
  });
  // A deployment succeeds only if the endpoint answers the sample as the tests expect it.
  new SmokeTest(stack, 'SmokeTest', {
    endpoint,
    samples: [
      {
        name: 'sample',
        file: '${context.sample}',
        contentType: '${context.contentType}',
        expect: [{ golden: '${GOLDEN}' }],
      },
    ],
  });
});
`;
}

function workflowOf(context: TemplateContext): string {
  const synth = hasApp(context) ? '      - run: npm run synth\n' : '';
  return `name: CI
on:
  push:
    branches: [main]
  pull_request:
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 24
          cache: npm
      # TensorFlow's library: fetched once, for tests, package and synth.
      - uses: actions/cache@v4
        with:
          path: ~/.cache/sagemaker-tfs
          key: sagemaker-tfs-\${{ runner.arch }}-\${{ hashFiles('package-lock.json') }}
          restore-keys: sagemaker-tfs-\${{ runner.arch }}-
      - run: npm ci
      - run: npm run lint
      - run: npm run typecheck
      - run: npm test
      - run: npm run package
${synth}`;
}

function readmeOf(context: TemplateContext): string {
  const deploy = hasApp(context)
    ? 'npx cdk bootstrap       # once for an account and region\nnpm run deploy\n'
    : '';
  return `# ${context.name}

A TensorFlow model on SageMaker, with a TypeScript handler around it.

\`\`\`sh
${installCommand(context.template, 'PATH')}
npm run serve           # /ping and /invocations on port 8080
npx sagemaker-tfs invoke ${context.sample}   # in another terminal
npm test                # the real model answers the sample as before
npm run rehearse        # checks the types, packages the model, and tries the archive out
${deploy}\`\`\`

${comesFromTarballs() ? tarballsOf(context) : ''}| file | holds |
| --- | --- |
| \`model/\` | the SavedModel, in numbered versions |
| \`inference.ts\` | the handler |
| \`samples/\`, \`goldens/\` | a request, and what the model answered to it: ${hasSmokeTest(context) ? 'the tests expect it, and the smoke test of a deployment' : 'the tests expect it'} |
| \`tests/\` | tests, with the real model |
${hasConfig(context) ? '| `serving.config.ts` | what is deployed |\n' : ''}${hasApp(context) ? '| `app.ts` | the CDK app |\n' : ''}`;
}

function tarballsOf({ template }: TemplateContext): string {
  return `PATH is the folder with the tarballs that \`npm run packages\` makes in a clone of sagemaker-tfs: where they are not
on the npm registry, \`npm install\` alone answers 404. For CI, keep them in this repository:

\`\`\`sh
mkdir -p vendor && cp PATH/*.tgz vendor/
${installCommand(template, './vendor')}
git add vendor package.json package-lock.json   # npm ci then installs from vendor/
\`\`\`

`;
}
