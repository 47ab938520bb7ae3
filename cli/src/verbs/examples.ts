/** What `--help` shows at its end: commands to try, by verb. */
import type { Command } from 'commander';
import { wrapCommand } from '../help-layout.ts';
import { commandName } from '../output/command-name.ts';

/** Arguments behind `sagemaker-tfs`, by the verb's path. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  init: ['init digits --model my_model/ --template endpoint', 'init'],
  inspect: ['inspect my_model/', 'inspect s3://bucket/model.tar.gz --json'],
  package: [
    'package my_model/ --out model.tar.gz',
    'package my_model/ --handler inference.ts --sample request.json --out model.tar.gz',
    'package --model cats=cats/ --model dogs=dogs/ --out model.tar.gz',
  ],
  verify: ['verify model.tar.gz --sample request.json'],
  serve: ['serve my_model/', 'serve my_model/ --handler inference.ts --port 9000'],
  invoke: [
    'invoke picture.jpg',
    'invoke request.json --endpoint my-endpoint --signature embed',
    'invoke request.json --endpoint my-endpoint --component my-endpoint-cats',
    'invoke - --content-type application/json < request.json',
  ],
  bench: [
    'bench picture.jpg --requests 1000 --in-flight 8',
    'bench picture.jpg --endpoint my-endpoint',
  ],
  batch: ['batch local images/ --model model.tar.gz --out outputs/'],
  'batch local': [
    'batch local images/ --model model.tar.gz --out outputs/',
    'batch local shards/ --url http://127.0.0.1:8080 --split-type TFRecord --out outputs/',
  ],
  'batch pack': [
    'batch pack images/ --out shards/ --shard-size 64MB',
    'batch pack s3://bucket/in/ --out s3://bucket/packed/ --share 1/4',
  ],
  'batch unpack': ['batch unpack shards/*.tfrecord --out images/'],
  'batch start': [
    'batch start --model-name digits --input-uri s3://bucket/in/ --output-uri s3://bucket/out/',
    'batch start --state-machine MyBatchStack --input-uri s3://bucket/in/',
  ],
  'batch watch': ['batch watch my-job', 'batch watch my-job --once --json'],
  'batch verify': [
    'batch verify my-job',
    'batch verify --input-uri s3://bucket/in/ --output-uri s3://bucket/out/',
  ],
  'batch sample': [
    'batch sample --input-uri s3://bucket/in/ --count 100 --out s3://bucket/sample.manifest',
  ],
  'batch probe': [
    'batch probe --model-name my-model --output-uri s3://bucket/out/ --sample picture.jpg',
  ],
  'batch fetch': ['batch fetch my-job --out answers.jsonl'],
  'batch stop': ['batch stop my-job'],
  'batch worker': [
    'batch worker --input s3://bucket/in/ --output s3://bucket/out/ --model model.tar.gz --content-type application/x-image',
  ],
  captures: ['captures drift s3://bucket/data-capture/ --baseline baseline.json --hours 24'],
  'captures baseline': ['captures baseline s3://bucket/data-capture/ --out baseline.json'],
  'captures drift': [
    'captures drift s3://bucket/data-capture/ --baseline baseline.json --hours 24',
  ],
  'captures compare': ['captures compare s3://bucket/data-capture/ --production now --shadow next'],
  register: [
    'register model.tar.gz --group digits --to s3://bucket/models/ --image 123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1',
  ],
  estimate: ['estimate --images 1000000 --seconds-per-image 0.02 --instance-type ml.g4dn.xlarge'],
  tune: [
    'tune samples/ --model my_model/ --handler inference.ts',
    'tune picture.jpg --url http://127.0.0.1:8080',
  ],
  doctor: ['doctor', 'doctor --account --app cdk.out'],
  completion: [
    'completion bash >> ~/.bashrc',
    'completion zsh > ~/.zsh/completions/_sagemaker-tfs',
    'completion fish > ~/.config/fish/completions/sagemaker-tfs.fish',
  ],
};

/** Adds the examples to the help of each verb that has some, verbs below verbs included. */
export function addExamples(program: Command, above: readonly string[] = []): void {
  for (const verb of program.commands) {
    const path = [...above, verb.name()];
    const examples = EXAMPLES[path.join(' ')];
    if (examples) verb.addHelpText('after', `\nExamples:\n${examples.map(lineOf).join('\n')}`);
    addExamples(verb, path);
  }
}

const lineOf = (example: string) => wrapCommand(`  $ ${commandName()} ${example}`, 80);
