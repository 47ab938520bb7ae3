/** What can only be learned in an account, and how the evidence answers it. */

/** What the probe says of where it runs. */
export interface Seen {
  readonly uid?: number | undefined;
  readonly cgroup?: number | undefined;
  readonly driver?: string | undefined;
  readonly writable?: readonly string[] | undefined;
  readonly unloadedUnderLoad?: number | undefined;
}

/** What the stages found. What is missing was not found: its facts are unknown. */
export interface Evidence {
  /** Whether CreateModel took the image, by the kind of its manifest. */
  manifests?: { readonly docker?: string; readonly oci?: string };
  /** An endpoint on a CPU, whose `/ping` has a body. */
  cpu?: Seen;
  /** An endpoint on ml.g4dn.xlarge, by AMI; '' is SageMaker's choice. */
  gpu?: Readonly<Record<string, Seen>>;
  serverless?: Seen;
  multiModel?: Seen;
  /** A transform job: keys of its outputs below the prefix, and what the probe said in them. */
  transform?: { readonly outputs: readonly string[]; readonly seen?: Seen };
  /** AMI of the transform job that a state machine made; '' is none. */
  stateMachineAmi?: string;
  /** Metrics that CloudWatch made from lines in the log. */
  metrics?: number;
  /** Seconds between SIGTERM and the end. */
  sigtermSeconds?: number;
  /** Why a stage found nothing, by its name. */
  readonly failures: Record<string, string>;
}

/** An answer. */
export interface Answer {
  readonly fact: string;
  readonly answer: 'yes' | 'no' | 'unknown';
  readonly detail: string;
}

interface Fact {
  readonly fact: string;
  /** The stage whose failure leaves it unknown. */
  readonly stage: string;
  /** Undefined if the evidence lacks it. */
  answer(evidence: Evidence): readonly [holds: boolean, detail: string] | undefined;
}

/** The first driver that CUDA 12.5 runs on, as TensorFlow Serving 2.20 has it. */
const CUDA_DRIVER = 525;
const INPUTS = ['a.json', 'sub/b.json'];

function driver(seen: Seen | undefined): readonly [boolean, string] | undefined {
  if (!seen) return undefined;
  const { driver: version } = seen;
  return [Number.parseInt(version ?? '0', 10) >= CUDA_DRIVER, `driver ${version ?? 'none'}`];
}

function accepted(problem: string | undefined): readonly [boolean, string] | undefined {
  return problem === undefined ? undefined : [problem === '', problem || 'CreateModel took it'];
}

/** Every fact, in the order that it is printed in. */
const FACTS: readonly Fact[] = [
  {
    fact: "an image with Docker's manifest is taken",
    stage: 'manifests',
    answer: ({ manifests }) => accepted(manifests?.docker),
  },
  {
    fact: 'an image with an OCI manifest is taken',
    stage: 'manifests',
    answer: ({ manifests }) => accepted(manifests?.oci),
  },
  {
    fact: "the container runs as its image's user (65532)",
    stage: 'cpu',
    answer: ({ cpu }) => cpu && [cpu.uid === 65532, `uid ${cpu.uid}`],
  },
  {
    fact: 'a /ping answer with a body is taken',
    stage: 'cpu',
    answer: ({ cpu }) => cpu && [true, 'the endpoint is InService'],
  },
  {
    fact: 'instances have cgroup version 2',
    stage: 'cpu',
    answer: ({ cpu }) => cpu && [cpu.cgroup === 2, `version ${cpu.cgroup}`],
  },
  {
    fact: 'metrics are made from lines in the log',
    stage: 'metrics',
    answer: ({ metrics }) =>
      metrics === undefined ? undefined : [metrics > 0, `${metrics} metrics in tfs-first-account`],
  },
  {
    fact: 'ml.g4dn.xlarge without an AMI has a driver for CUDA 12',
    stage: 'gpu',
    answer: ({ gpu }) => driver(gpu?.['']),
  },
  {
    fact: 'ml.g4dn.xlarge with al2-ami-sagemaker-inference-gpu-3-1 has one',
    stage: 'gpu-ami',
    answer: ({ gpu }) => driver(gpu?.['al2-ami-sagemaker-inference-gpu-3-1']),
  },
  {
    fact: 'a container has 20 seconds or more after SIGTERM',
    stage: 'sigterm',
    answer: ({ sigtermSeconds: seconds }) =>
      seconds === undefined ? undefined : [seconds >= 20, `${seconds} s`],
  },
  {
    fact: 'a serverless container can write beside /tmp',
    stage: 'serverless',
    answer: ({ serverless }) => {
      const others = serverless?.writable?.filter((path) => path !== '/tmp');
      return others && [others.length > 0, `writable: ${serverless?.writable?.join(' ')}`];
    },
  },
  {
    fact: 'SageMaker unloads a model while a request is worked on',
    stage: 'multi-model',
    answer: ({ multiModel }) =>
      multiModel?.unloadedUnderLoad === undefined
        ? undefined
        : [multiModel.unloadedUnderLoad > 0, `${multiModel.unloadedUnderLoad} times`],
  },
  {
    fact: 'outputs of a transform job lie under their whole keys',
    stage: 'transform',
    answer: ({ transform }) =>
      transform && [
        INPUTS.every((key) => transform.outputs.includes(`${key}.out`)),
        transform.outputs.join(' '),
      ],
  },
  {
    fact: 'TransformAmiVersion is taken, with a driver for CUDA 12',
    stage: 'transform',
    answer: ({ transform }) => driver(transform?.seen),
  },
  {
    fact: 'Step Functions hands TransformAmiVersion on to SageMaker',
    stage: 'step-functions',
    answer: ({ stateMachineAmi: ami }) =>
      ami === undefined ? undefined : [ami !== '', ami || 'the job has none'],
  },
];

/** Every fact's answer. */
export function answers(evidence: Evidence): Answer[] {
  return FACTS.map(({ fact, stage, answer }) => {
    const found = answer(evidence);
    if (found) return { fact, answer: found[0] ? 'yes' : 'no', detail: found[1] };
    const detail = evidence.failures[stage] ?? 'not asked';
    return { fact, answer: 'unknown', detail };
  });
}
