/** Commands of the documentation that docs/run.test.ts does not run, each with the reason. */

/** Pages whose commands another test runs. */
export const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/detector-to-boxes.md': 'docs/transcripts.test.ts',
  'docs/migrate-in-30-minutes.md': 'docs/transcripts.test.ts',
  'docs/pictures-to-parquet.md': 'docs/transcripts.test.ts',
  'docs/ten-minutes.md': 'test/installed/ten-minutes.ts',
  'docs/command-line.md': 'cli/src/main.test.ts',
  'examples/mobilenet/README.md': 'examples/mobilenet/mobilenet.test.ts',
};

/** What a line looks like, and why it is not run. */
export const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [/^aws /, 'needs an AWS account'],
  [/^npx cdk /, 'needs an AWS account, or is synthesized by test/stacks and test/installed'],
  [
    / --(?:endpoint|recommend) /,
    'needs an endpoint; the tests of cli/ ask a stand-in of SageMaker',
  ],
  [/ doctor --account/, 'needs an AWS account; cli/src/account asks a stand-in'],
  [
    / batch (?:start|watch|verify|fetch|stop|probe|sample|worker) | batch pack s3:/,
    'needs S3 and SageMaker; cli/src/batch asks stand-ins of both',
  ],
  [/ captures \w+ s3:/, 'needs S3; cli/src/captures asks a stand-in'],
  [/ register /, 'needs S3 and SageMaker; its test asks stand-ins'],
  [/\| aws /, 'needs an AWS account'],
  [
    / estimate --app /,
    'needs an app that was synthesized; cli/src/estimate/week.test.ts makes one',
  ],
  [
    /^npm (?:ci|install|test)|^npm run /,
    'installs and scripts: test/installed does those of projects, .ci/run those of the repository',
  ],
  [/^docker |^CONTAINER=/, 'needs Docker; npm run image builds the image'],
  [/ --baked-image /, 'needs an image that docker build made'],
  [
    /127\.0\.0\.1:8080\/models/,
    'needs the container of a multi-model endpoint: container/src has its tests',
  ],
  [
    /\.keras /,
    'needs Python with TensorFlow; model-packaging converts one where there is such a Python',
  ],
  [/^python3 -c "import numpy/, 'needs NumPy'],
  [/^pip install -r examples/, 'downloads TensorFlow for Python, of some 600 MB'],
  [/^python3 examples/, 'needs TensorFlow for Python, and minutes'],
  [/before1\.json,/, 'the files of six runs; the line above it compares one with one'],
  [/^TEST_MODEL_SERVER_BIN=/, 'needs a real TensorFlow Serving'],
  [/^git /, 'needs a repository of the reader'],
  [/model_repository/, "needs a model repository of Triton's"],
  [/ inspect digits$/, "needs a model repository of Triton's"],
];

/** Why a line is not run; undefined if it is. */
export function reasonNotToRun(line: string): string | undefined {
  return NOT_RUN.find(([pattern]) => pattern.test(line))?.[1];
}
