/** `package.json` of the published packages, made from those of the workspaces that go into them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A published `package.json`. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

interface WorkspaceManifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly repository?: { readonly type: string; readonly url: string };
}

/** Not bundled: native code, or types that users meet. */
const DEPENDENCIES = ['@julusian/jpeg-turbo', '@node-rs/crc32', 'esbuild', 'koffi', 'sharp'];

/** What both packages say of themselves. */
function common(root: string, version: string) {
  const { repository } = read(root, '.');
  return {
    version,
    license: 'Apache-2.0',
    // Where the sources are is known once there is a first release.
    ...(repository && { repository }),
    engines: { node: '>=20.19' },
    publishConfig: { access: 'public', provenance: true },
  };
}

/** `sagemaker-tfs`: the command, and what users import. */
export function commandManifest(root: string): Manifest {
  const versions = versionsIn(root, ['container', 'libtensorflow', 'model-packaging', 'client']);
  const pinned = DEPENDENCIES.map((name) => [name, required(versions, name)]);
  return {
    name: 'sagemaker-tfs',
    description:
      'Package, serve, test and deploy TensorFlow SavedModels on SageMaker with a TypeScript handler.',
    keywords: ['tensorflow', 'sagemaker', 'inference', 'serving', 'savedmodel'],
    ...common(root, read(root, 'cli').version),
    type: 'module',
    bin: { 'sagemaker-tfs': 'bin/sagemaker-tfs.js' },
    files: [
      ...['bin', 'dist', 'types', 'container', 'local-model-server', 'python', 'prices'],
      'example-model',
    ],
    sideEffects: false,
    main: './dist/index.js',
    types: './types/esm/index.d.ts',
    exports: {
      '.': { types: './types/esm/index.d.ts', default: './dist/index.js' },
      './handler': dual('handler'),
      './client': {
        browser: { types: './types/esm/client.d.ts', default: './dist/client.browser.js' },
        ...dual('client'),
      },
      './testing': dual('testing'),
      './files': dual('files'),
      './prices/*': './prices/*',
      './package.json': './package.json',
    },
    dependencies: {
      '@aws-sdk/client-sagemaker-runtime': `^${required(versions, '@aws-sdk/client-sagemaker-runtime')}`,
      ...Object.fromEntries(pinned),
      '@bufbuild/protobuf': `^${required(versions, '@bufbuild/protobuf')}`,
      '@types/node': '>=20',
      zod: `^${required(versions, 'zod')}`,
    },
  };
}

/** `@sagemaker-tfs/cdk`: the constructs. */
export function cdkManifest(root: string): Manifest {
  const versions = versionsIn(root, ['lib', 'tensors']);
  const { version } = read(root, 'lib');
  return {
    name: '@sagemaker-tfs/cdk',
    description: 'AWS CDK constructs that serve TensorFlow SavedModels on SageMaker.',
    keywords: ['aws-cdk', 'cdk', 'constructs', 'tensorflow', 'sagemaker'],
    ...common(root, version),
    type: 'commonjs',
    files: ['dist', 'types'],
    sideEffects: false,
    main: './dist/index.cjs',
    types: './types/index.d.ts',
    exports: {
      '.': { types: './types/index.d.ts', default: './dist/index.cjs' },
      './package.json': './package.json',
    },
    dependencies: {
      '@bufbuild/protobuf': `^${required(versions, '@bufbuild/protobuf')}`,
      '@types/node': '>=20',
      esbuild: required(versions, 'esbuild'),
      'sagemaker-tfs': read(root, 'cli').version,
      tar: required(versions, 'tar'),
      zod: `^${required(versions, 'zod')}`,
    },
    peerDependencies: {
      'aws-cdk-lib': `^${required(versions, 'aws-cdk-lib')}`,
      constructs: `^${required(versions, 'constructs')}`,
    },
  };
}

/** A subpath for ES modules and CommonJS, with the types of each. */
function dual(name: string) {
  return {
    import: { types: `./types/esm/${name}.d.ts`, default: `./dist/${name}.js` },
    require: { types: `./types/cjs/${name}.d.ts`, default: `./dist/${name}.cjs` },
  };
}

function read(root: string, room: string): WorkspaceManifest {
  return JSON.parse(readFileSync(join(root, room, 'package.json'), 'utf8')) as WorkspaceManifest;
}

function versionsIn(root: string, rooms: readonly string[]): Readonly<Record<string, string>> {
  return Object.assign({}, ...rooms.map((room) => read(root, room).dependencies));
}

function required(versions: Readonly<Record<string, string>>, name: string): string {
  const version = versions[name];
  if (version === undefined) throw new Error(`no workspace depends on ${name}`);
  return version;
}
